"""Timestamps and durations: parsing and formatting as in Go, and the functions of their parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.arithmetic import INT_MAX, INT_MIN
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import Duration, Timestamp

__all__ = ["SECOND", "TIMES", "read_duration", "read_timestamp", "write_timestamp"]


SECOND: Final = 1_000_000_000
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"([0-9]{0,40})(?:\.([0-9]{0,40}))?(ns|us|µs|μs|ms|s|m|h)")
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_duration(text: str) -> Duration | None:
    """Parse a duration as Go's `time.ParseDuration` (`1h30m`, `-1.5s`); None for an invalid one."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    at = total = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if found is None or not (found[1] or found[2]):
            return None
        total += int(found[1] or 0) * _UNITS[found[3]]
        if found[2]:
            total += int(found[2]) * _UNITS[found[3]] // 10 ** len(found[2])
        at = found.end()
    total *= sign
    return Duration(total) if rest and INT_MIN <= total <= INT_MAX else None


def read_timestamp(text: str) -> Timestamp | None:
    """Parse a timestamp in RFC 3339; None for an invalid one."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    try:
        timestamp = datetime.fromisoformat(found[1] + found[3])
    except ValueError:
        return None
    fraction = int((found[2] or "0")[:9].ljust(9, "0"))
    ahead = timestamp.utcoffset() or timedelta()
    return Timestamp(_nanoseconds(timestamp) + fraction, ahead // timedelta(minutes=1))


def _nanoseconds(timestamp: datetime) -> int:
    passed = timestamp - _EPOCH
    return (passed.days * 86400 + passed.seconds) * SECOND + passed.microseconds * 1000


def write_timestamp(timestamp: Timestamp) -> str:
    """Format a timestamp in RFC 3339, in its own time zone, without trailing zeros of the second."""
    fraction = timestamp.nanoseconds % SECOND
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    local = _at(timestamp, timezone(timedelta(minutes=timestamp.ahead)))
    zone = f"{'-' if timestamp.ahead < 0 else '+'}{abs(timestamp.ahead) // 60:02d}:{abs(timestamp.ahead) % 60:02d}"
    return f"{local.replace(tzinfo=None, microsecond=0).isoformat()}{digits}{zone if timestamp.ahead else 'Z'}"


def _at(timestamp: Timestamp, zone: tzinfo) -> datetime:
    seconds, rest = divmod(timestamp.nanoseconds, SECOND)
    return (_EPOCH + timedelta(seconds=seconds, microseconds=rest // 1000)).astimezone(zone)


def _zone(name: str) -> tzinfo:
    offset = re.fullmatch(r"([+-]?)(\d\d?):(\d\d)", name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    if name in ("", "UTC", "Local"):  # servers run in UTC
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise EvaluationFailed(f"unknown time zone {name}") from error
    except KeyError as error:
        raise EvaluationFailed(f"unknown time zone {name}") from error


def _part(of: Callable[[datetime], int]) -> list[tuple[str, Callable[..., int]]]:
    return [
        ("timestamp.() -> int", lambda timestamp: of(_at(timestamp, UTC))),
        ("timestamp.(string) -> int", lambda timestamp, zone: of(_at(timestamp, _zone(zone)))),
    ]


def _toward_zero(number: int, unit: int) -> int:
    return number // unit if number >= 0 else -(-number // unit)


def _whole(unit: int) -> tuple[str, Callable[[Duration], int]]:
    return "duration.() -> int", lambda duration: _toward_zero(duration.nanoseconds, unit)


TIMES: Table = {
    "getFullYear": _part(lambda timestamp: timestamp.year),
    "getMonth": _part(lambda timestamp: timestamp.month - 1),
    "getDayOfYear": _part(lambda timestamp: timestamp.timetuple().tm_yday - 1),
    "getDayOfMonth": _part(lambda timestamp: timestamp.day - 1),
    "getDate": _part(lambda timestamp: timestamp.day),
    "getDayOfWeek": _part(lambda timestamp: (timestamp.weekday() + 1) % 7),
    "getHours": [*_part(lambda timestamp: timestamp.hour), _whole(3600 * SECOND)],
    "getMinutes": [*_part(lambda timestamp: timestamp.minute), _whole(60 * SECOND)],
    "getSeconds": [*_part(lambda timestamp: timestamp.second), _whole(SECOND)],
    "getMilliseconds": [
        *_part(lambda timestamp: timestamp.microsecond // 1000),
        ("duration.() -> int", lambda duration: _toward_zero(duration.nanoseconds, 1_000_000)),
    ],
}
