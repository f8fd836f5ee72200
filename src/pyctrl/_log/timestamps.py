"""Time encodings of log lines: those of Go's zap, always in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

__all__ = ["TIME_ENCODINGS", "TimeEncoding", "encode_time"]

TimeEncoding: TypeAlias = Literal["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"]
TIME_ENCODINGS: tuple[TimeEncoding, ...] = get_args(TimeEncoding)


def encode_time(seconds: float, encoding: TimeEncoding) -> str | float | int:
    """Return a time, given in seconds since 1970, as a number or text.

    A record's time is a float with microsecond precision: ``nano`` and ``rfc3339nano`` have no further digits.
    """
    match encoding:
        case "epoch":
            return seconds
        case "millis":
            return seconds * 1000
        case "nano":
            return round(seconds * 1_000_000) * 1000
    at = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    if encoding == "rfc3339nano":
        return f"{at.isoformat(timespec='microseconds').rstrip('0').rstrip('.')}Z"
    return f"{at.isoformat(timespec='milliseconds' if encoding == 'iso8601' else 'seconds')}Z"
