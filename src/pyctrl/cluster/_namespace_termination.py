"""Errors of writes to terminating namespaces and to outdated objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyctrl.errors import Conflict, Forbidden, NotFound

__all__ = ["ignore_outdated", "is_namespace_terminating"]


def is_namespace_terminating(error: Forbidden) -> bool:
    """Return whether a write was refused because its namespace is terminating."""
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)


@contextmanager
def ignore_outdated() -> Iterator[None]:
    """Ignore errors of writes to objects that changed, are gone, or are in a terminating namespace."""
    try:
        yield
    except (NotFound, Conflict):
        return
    except Forbidden as error:
        if not is_namespace_terminating(error):
            raise
