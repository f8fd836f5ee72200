"""Durations and times: parsed in the format of kubectl and Go, and formatted for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from cyclopts import Token

from pyctrl import _clock

__all__ = ["duration", "duration_or_none", "shown_duration", "shown_end"]

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")

_UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def duration(kind: Any, tokens: Sequence[Token]) -> timedelta:
    """Parse the value of a flag: `1h30m`, `90s`, `500ms`; a number alone is seconds. For `Parameter(converter=…)`."""
    found = duration_or_none(kind, tokens)
    if not found:
        raise ValueError(f"{tokens[0].value!r} is not positive; a duration above 0 was expected")
    return found


def duration_or_none(kind: Any, tokens: Sequence[Token]) -> timedelta:
    """Parse the value of a flag as `duration` does, but accept 0."""
    text = tokens[0].value
    if re.fullmatch(r"\d+", text):
        text += "s"
    if not re.fullmatch(f"(?:{_PART.pattern})+", text):
        raise ValueError(f"{tokens[0].value!r} is not a duration; 90s, 15m or 1h30m was expected")
    return timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text)))


def shown_duration(length: timedelta) -> str:
    """Return a duration with its two largest units: `1h30m`, `12d`, `45s`."""
    left, parts = max(0, round(length.total_seconds())), []
    for unit, seconds in _UNITS:
        number, left = divmod(left, seconds)
        parts.append(f"{number}{unit}" if number else "")
    first = next((place for place, part in enumerate(parts) if part), len(parts) - 1)
    return "".join(parts[first : first + 2]) or "0s"


def shown_end(at: datetime) -> str:
    """Return when something expires or expired."""
    left = at - _clock.now()
    when = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    if left > timedelta(0):
        return f"expires {when}, in {shown_duration(left)}"
    return f"expired {when}, {shown_duration(-left)} ago"
