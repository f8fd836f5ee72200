"""How long ago: durations as kubectl shows them."""

from __future__ import annotations

from datetime import UTC, datetime

from pyctrl import _clock

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


def age(timestamp: str | None) -> str:
    """Give the time since a timestamp, `<unknown>` without one."""
    if not timestamp:
        return "<unknown>"
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return "<unknown>"
    return human(int((_clock.now() - then).total_seconds()))


def between(start: str | None, end: str | None) -> str:
    """Give the time from one timestamp to another, or to now."""
    if not start:
        return "<none>"
    last = datetime.fromisoformat(end) if end else _clock.now().astimezone(UTC)
    return human(int((last - datetime.fromisoformat(start)).total_seconds()))


def human(seconds: int) -> str:
    """Write a duration with at most two units, coarser as it grows: 45s, 3m20s, 2h, 3d4h, 400d, 2y10d."""
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
