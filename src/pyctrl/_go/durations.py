"""Durations: Go's `time.ParseDuration` and apimachinery's `duration.HumanDuration`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pyctrl import _clock
from pyctrl._go.text import quoted

__all__ = ["age", "between", "duration_problem", "human_duration", "parse_duration"]


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


_PART = re.compile(r"([0-9]*+)(?:\.([0-9]*+))?([^0-9.]*+)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 2**63 / 1e9  # seconds that Go counts in nanoseconds


def duration_problem(text: str) -> str:
    """Return the error of Go's `time.ParseDuration` for a text; "" for a valid duration."""
    return _parse(text)[1]


def parse_duration(text: str) -> float:
    """Return the seconds of a duration in the format of Go's `time.ParseDuration`.

    Raises:
        ValueError: It is not a duration; the message is Go's.
    """
    seconds, problem = _parse(text)
    if problem:
        raise ValueError(problem)
    return -seconds if text.startswith("-") else seconds


def _parse(text: str) -> tuple[float, str]:
    """Return the seconds of a duration without its sign, and Go's error."""
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0.0, ""
    at, seconds = 0, 0.0
    while at < len(rest) or not rest:
        part = _PART.match(rest, at)
        if part is None or not (part[1] or part[2]):
            return 0.0, f"time: invalid duration {quoted(text)}"
        seconds += float(part[1] or "0") * _UNITS.get(part[3], 0.0)
        if len(part[1].lstrip("0")) > 19 or seconds > _LONGEST:
            return 0.0, f"time: invalid duration {quoted(text)}"
        if part[3] not in _UNITS:
            problem = f"unknown unit {quoted(part[3])}" if part[3] else "missing unit"
            return 0.0, f"time: {problem} in duration {quoted(text)}"
        at = part.end()
    return seconds, ""


def age(timestamp: str | None) -> str:
    """Return the time since a timestamp as kubectl prints it; `<unknown>` without a valid one."""
    if not timestamp:
        return "<unknown>"
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return "<unknown>"
    return human_duration(int((_clock.now() - then).total_seconds()))


def between(start: str | None, end: str | None) -> str:
    """Return the time from `start` to `end`, or to now without `end`; `<none>` without `start`."""
    if not start:
        return "<none>"
    last = datetime.fromisoformat(end) if end else _clock.now().astimezone(UTC)
    return human_duration(int((last - datetime.fromisoformat(start)).total_seconds()))


def human_duration(seconds: int) -> str:
    """Format a duration with at most two units, coarser for longer ones: 45s, 3m20s, 2h, 3d4h, 400d, 2y10d."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    minutes, hours, days = seconds // _MINUTE, seconds // _HOUR, seconds // _DAY
    if minutes < 10:
        return _two(minutes, "m", seconds % _MINUTE, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    years = seconds // _YEAR
    return _two(years, "y", days % 365, "d") if years < 8 else f"{years}y"


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first}{unit}{second}{smaller}" if second else f"{first}{unit}"
