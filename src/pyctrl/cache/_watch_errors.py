"""Errors of lists and watches, and what the reflector does after each."""

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

LONGEST_WAIT = 30.0  # seconds, as for single requests (RetryPolicy); a proxy may send a Retry-After of a day


class EndedEarly(StreamBroken):
    """Raised when the server ends a watch without an error before it has sent anything new."""


class WentBack(StreamBroken):
    """Raised when a watch sends a resource version that is lower than one before."""


class EventLost(DecodeError):
    """Raised when an event cannot be decoded and does not say its object's name."""


class RetryAction(Enum):
    """What the reflector does after a failure."""

    AGAIN = "again"  # wait, then repeat the request
    AT_ONCE = "at once"  # repeat the request without a wait: the failure was a timeout
    LIMITED = "again, a few times"  # wait, then repeat the request, a few times only: the request may be the cause
    RELIST = "relist"  # wait, then list: the server no longer has the version
    PAGES = "pages"  # list in pages: the server does not stream lists


# Answers to an option that the server does not know or has switched off.
_UNSUPPORTED = (BadRequest, Invalid, MethodNotAllowed, NotAcceptable, UnsupportedMediaType)
# The request is right; the server cannot or may not answer it now.
_TEMPORARY = (ConnectionFailed, Unauthorized, Forbidden, NotFound, TooManyRequests, ServiceUnavailable, Timeout)


def retry_action_for(error: Exception, *, is_streamed_list: bool) -> RetryAction:
    """Return what to do after an error."""
    match error:
        case Gone() | EventLost():
            return RetryAction.RELIST
        case RequestTimeout():
            return RetryAction.PAGES if is_streamed_list else RetryAction.AT_ONCE
        case _ if is_streamed_list and isinstance(error, _UNSUPPORTED):
            return RetryAction.PAGES
        case _ if isinstance(error, _TEMPORARY):
            return RetryAction.AGAIN
        case EndedEarly():
            return RetryAction.LIMITED
        case TransportError() if not is_streamed_list:
            return RetryAction.AGAIN
        case _:
            return RetryAction.LIMITED


def needs_attention(error: Exception) -> bool:
    """Return whether an error may last until someone acts."""
    return not isinstance(error, (TransportError, Gone, TooManyRequests, ServiceUnavailable, Timeout))


def retry_after(error: Exception) -> float:
    """Return the Retry-After of an error in seconds, at most `LONGEST_WAIT`; 0 if it has none."""
    return min(error.retry_after or 0.0, LONGEST_WAIT) if isinstance(error, ApiError) else 0.0


def advice(error: Exception) -> str:
    """Return what to grant, to be appended to a message; "" when a permission would not help."""
    match error:
        case Forbidden() if error.resource:
            rule = AccessRule(verbs=("list", "watch"), groups=(error.api_group,), resources=(error.resource,))
            return f"\n{rbac.remedy(rule, error.namespace, user=error.user).text}"
        case _:
            return ""
