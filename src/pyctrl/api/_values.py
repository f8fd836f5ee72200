"""Field types of the wire: Kubernetes times and the current time, sized integers, int-or-string."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer

from pyctrl._clock import now
from pyctrl.api._value_markers import Format

__all__ = ["Int32", "Int64", "IntOrString", "MicroTime", "Time", "format_micro_time", "format_time", "now"]


def _utc(value: datetime) -> datetime:
    """Return a time in UTC; a naive one is taken as UTC."""
    zone = value.tzinfo
    return value if zone is UTC else value.replace(tzinfo=UTC) if zone is None else value.astimezone(UTC)


def format_time(value: datetime) -> str:
    """Format a time as ``metav1.Time`` does: RFC 3339, UTC, truncated to seconds."""
    return f"{_utc(value).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def format_micro_time(value: datetime) -> str:
    """Format a time as ``metav1.MicroTime`` does: RFC 3339, UTC, always six fractional digits."""
    return f"{_utc(value).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


#: A time with second precision, such as ``creationTimestamp``. Naive values are taken as UTC.
Time = Annotated[datetime, Format("date-time"), PlainSerializer(format_time, return_type=str, when_used="json")]

#: A time with microseconds, such as ``renewTime`` of a Lease.
MicroTime = Annotated[
    datetime, Format("date-time"), PlainSerializer(format_micro_time, return_type=str, when_used="json")
]

Int32 = Annotated[int, Format("int32")]
Int64 = Annotated[int, Format("int64")]

#: A port or a percentage: ``8080``, ``"http"`` or ``"25%"``; keeps its type on the wire.
IntOrString = Annotated[int | str, Format("int-or-string")]
