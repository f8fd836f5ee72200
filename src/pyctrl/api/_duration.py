"""Durations in Kubernetes' text form: ``1h30m``, ``500ms``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from pyctrl.api._value_markers import Pattern

__all__ = ["Duration", "format_duration", "parse_duration"]

_MINUTE = 60_000_000  # microseconds, which timedelta counts
_HOUR = 60 * _MINUTE
_MICROSECONDS = {"ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1_000, "s": 1_000_000, "m": _MINUTE, "h": _HOUR}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_UNIT = "ns|us|µs|μs|ms|s|m|h"
_PART = re.compile(f"({_NUMBER})({_UNIT})")
_PATTERN = f"^[+-]?(?:0|(?:{_NUMBER}(?:{_UNIT}))+)$"
_matches = re.compile(_PATTERN).match


def parse_duration(text: str) -> timedelta:
    """Parse a duration as Go writes it: ``1h30m``, ``-1.5s``, ``0``; nanoseconds are rounded to microseconds.

    Raises:
        ValueError: the text is not a duration, or it exceeds the range of `timedelta`.
    """
    if not _matches(text):
        raise ValueError(f"{text!r} is not a duration: expected numbers with the units h, m, s, ms, us or ns: 1h30m")
    total = sum(float(number) * _MICROSECONDS[unit] for number, unit in _PART.findall(text))
    try:
        return timedelta(microseconds=round(-total if text.startswith("-") else total))
    except OverflowError:
        raise ValueError(f"{text!r} is longer than {timedelta.max.days} days") from None


def format_duration(length: timedelta) -> str:
    """Format a duration as Go does: ``1h30m0s``, ``1.5s``, ``300ms``, ``0s``."""
    left = length // timedelta(microseconds=1)
    sign, left = ("-", -left) if left < 0 else ("", left)
    if not left:
        return "0s"
    if left < 1_000_000:
        unit, size = ("ms", 1_000) if left >= 1_000 else ("µs", 1)
        return f"{sign}{left / size:g}{unit}" if left % size else f"{sign}{left // size}{unit}"
    hours, left = divmod(left, _HOUR)
    minutes, left = divmod(left, _MINUTE)
    seconds = f"{left // 1_000_000}.{left % 1_000_000:06}".rstrip("0").rstrip(".") + "s"
    return sign + (f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else "") + seconds


def _read(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError(f"a duration is a text such as 1h30m, not {value!r}")  # noqa: TRY004  # pydantic's errors
    return parse_duration(value)


#: A duration, such as a timeout: `timedelta` in Python, ``1h30m`` on the wire, as ``metav1.Duration``.
Duration = Annotated[
    timedelta,
    BeforeValidator(_read),
    PlainSerializer(format_duration, return_type=str, when_used="json"),
    Pattern(_PATTERN),
]
