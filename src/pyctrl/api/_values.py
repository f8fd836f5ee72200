"""Field types of the wire: times as Kubernetes writes them and what time it is, sized integers, int-or-string."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer

from pyctrl._clock import now
from pyctrl.api._value_markers import Format

__all__ = ["Int32", "Int64", "IntOrString", "MicroTime", "Time", "format_micro_time", "format_time", "now"]


def _utc(value: datetime) -> datetime:
    """A naive time is taken as UTC: Kubernetes knows no other."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def format_time(value: datetime) -> str:
    """Write a time as ``metav1.Time`` does: RFC 3339, UTC, whole seconds (the rest is cut off)."""
    return _utc(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(value: datetime) -> str:
    """Write a time as ``metav1.MicroTime`` does: RFC 3339, UTC, always six digits of a second."""
    return _utc(value).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


#: A moment with the precision of a second, such as ``creationTimestamp``. Naive values are taken as UTC.
Time = Annotated[datetime, Format("date-time"), PlainSerializer(format_time, return_type=str, when_used="json")]

#: A moment with microseconds, such as ``renewTime`` of a Lease.
MicroTime = Annotated[
    datetime, Format("date-time"), PlainSerializer(format_micro_time, return_type=str, when_used="json")
]

Int32 = Annotated[int, Format("int32")]
Int64 = Annotated[int, Format("int64")]

#: A port or a share: ``8080``, ``"http"`` or ``"25%"``; stays what it was on the wire.
IntOrString = Annotated[int | str, Format("int-or-string")]
