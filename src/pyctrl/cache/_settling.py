"""When there is no use in waiting for the first list of a kind any longer: decided from how its informer is doing."""

from __future__ import annotations

from pyctrl.cache._informer import Informer
from pyctrl.cache._trouble import is_loud
from pyctrl.errors import RequestTimeout, Unauthorized

__all__ = ["has_answered", "is_settled"]

TRIES = 2  # the second comes within 0.8 s: a server that stumbled once is not held against the kind


def is_settled(informer: Informer, *, some_have_come: bool) -> bool:
    """Tell whether the first list is complete, or fails in a way that need not hold up others."""
    if informer.is_synced or informer.is_refused or informer.is_absent:
        return True
    has_been_tried = informer.failures >= TRIES or isinstance(informer.error, RequestTimeout)  # which took long enough
    return has_been_tried and (some_have_come or has_answered(informer))


def has_answered(informer: Informer) -> bool:
    """Tell whether a server that is well, and knows who asks, has said something about the kind."""
    error = informer.error
    return informer.is_synced or (error is not None and is_loud(error) and not isinstance(error, Unauthorized))
