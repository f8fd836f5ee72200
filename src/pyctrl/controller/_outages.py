"""Failures that are nobody's but the cluster's or the operator's: they end for all objects at once."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.errors import ConnectionFailed, Forbidden, NotSynced, ServiceUnavailable, Unauthorized, UnknownKind

__all__ = ["OUTAGE_WAIT", "is_outage"]

#: What a retry waits at most while nothing works: the end of an outage comes with no change that would run it earlier.
#: With the backoff alone an operator whose role was missing for an hour needed 13 more minutes after it was back.
OUTAGE_WAIT = timedelta(minutes=1)  # a token file is read again as often


def is_outage(error: BaseException) -> bool:
    """Tell whether an attempt failed because of a right, a login, a definition or a server that is not there.

    A cache that is not filled yet counts: it may be that of another cluster, which a controller does not wait for.
    What an admission plugin forbids is no such thing: it is about the object.
    """
    if isinstance(error, Forbidden):
        return bool(error.verb)
    return isinstance(error, (ConnectionFailed, NotSynced, ServiceUnavailable, Unauthorized, UnknownKind))
