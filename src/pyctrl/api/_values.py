"""Field types of the wire: Kubernetes times, sized integers, int-or-string."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer

from pyctrl.api._times import format_micro_time, format_time
from pyctrl.api._value_markers import Format

__all__ = ["Int32", "Int64", "IntOrString", "MicroTime", "Time"]

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
