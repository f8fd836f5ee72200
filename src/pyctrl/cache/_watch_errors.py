"""What to do about a failure of a list or watch: decided from the error alone."""

from __future__ import annotations

from enum import Enum

from pyctrl import rbac
from pyctrl.api import AccessRule
from pyctrl.errors import (
    ApiError,
    BadRequest,
    ConnectionFailed,
    DecodeError,
    Forbidden,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    RequestTimeout,
    ServiceUnavailable,
    StreamBroken,
    Timeout,
    TooManyRequests,
    TransportError,
    Unauthorized,
    UnsupportedMediaType,
)

__all__ = [
    "EndedEarly",
    "EventLost",
    "RetryAction",
    "WentBack",
    "advice",
    "needs_attention",
    "retry_action_for",
    "retry_after",
]

LONGEST_WAIT = 30.0  # seconds, as for single requests (RetryPolicy); a proxy may ask for a day


class EndedEarly(StreamBroken):
    """Raised when the server ends a watch in good order, but before anything came of it."""


class WentBack(StreamBroken):
    """Raised when the server sends a version that is lower than one that it has sent before."""


class EventLost(DecodeError):
    """Raised when an event can be neither decoded nor assigned to an object."""


class RetryAction(Enum):
    """How to go on after a failure."""

    AGAIN = "again"  # wait, then do the same
    AT_ONCE = "at once"  # do the same; the failure itself took long enough
    DOUBT = "doubt"  # wait, then do the same, but a few times only: it may be what is asked that fails
    RELIST = "relist"  # wait, then list: the version is no longer known
    PAGES = "pages"  # list in pages: the server does not stream lists


# Answers to an option that a server does not know, or has switched off.
_REFUSALS = (BadRequest, Invalid, MethodNotAllowed, NotAcceptable, UnsupportedMediaType)
# Nothing is wrong with what was asked; it is the wrong time or the wrong user.
_PASSING = (ConnectionFailed, Unauthorized, Forbidden, NotFound, TooManyRequests, ServiceUnavailable, Timeout)


def retry_action_for(error: Exception, *, is_streamed_list: bool) -> RetryAction:
    """Choose how to go on."""
    match error:
        case Gone() | EventLost():
            return RetryAction.RELIST
        case RequestTimeout():
            return RetryAction.PAGES if is_streamed_list else RetryAction.AT_ONCE
        case _ if is_streamed_list and isinstance(error, _REFUSALS):
            return RetryAction.PAGES
        case _ if isinstance(error, _PASSING):
            return RetryAction.AGAIN
        case EndedEarly():
            return RetryAction.DOUBT
        case TransportError() if not is_streamed_list:
            return RetryAction.AGAIN
        case _:
            return RetryAction.DOUBT


def needs_attention(error: Exception) -> bool:
    """Tell whether a human may have to do something about it: it will not pass by itself."""
    return not isinstance(error, (TransportError, Gone, TooManyRequests, ServiceUnavailable, Timeout))


def retry_after(error: Exception) -> float:
    """Return the seconds that the server asked to wait, `LONGEST_WAIT` at most, 0 if it did not."""
    return min(error.retry_after or 0.0, LONGEST_WAIT) if isinstance(error, ApiError) else 0.0


def advice(error: Exception) -> str:
    """Say what has to be granted, as the end of a text; "" when that would not help."""
    match error:
        case Forbidden() if error.resource:
            rule = AccessRule(verbs=("list", "watch"), groups=(error.api_group,), resources=(error.resource,))
            return f"\n{rbac.remedy(rule, error.namespace, user=error.user).text}"
        case _:
            return ""
