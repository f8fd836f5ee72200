"""Times: Go's `time.Parse` with the layout RFC 3339, and its errors."""

from __future__ import annotations

import re
from datetime import datetime

from pyctrl._go.text import quoted

__all__ = ["parse_rfc3339"]

_LAYOUT = "2006-01-02T15:04:05Z07:00"
# The elements of the layout in their order: each with its pattern and, for a number, its name and its limits.
_ELEMENTS = (
    ("2006", r"\d{4}", None),
    ("-", "-", None),
    ("01", r"\d\d", ("month", 1, 12)),
    ("-", "-", None),
    ("02", r"\d\d", ("day", 1, 31)),
    ("T", "T", None),
    ("15", r"\d\d", ("hour", 0, 23)),
    (":", ":", None),
    ("04", r"\d\d", ("minute", 0, 59)),
    (":", ":", None),
    ("05", r"\d\d(?:[.,]\d+)?", ("second", 0, 59)),
    ("Z07:00", r"Z|[+-]\d\d:\d\d", None),
)


def parse_rfc3339(text: str) -> datetime:
    """Return a time.

    Raises:
        ValueError: It is not a time in RFC 3339; the message is Go's.
    """
    at = 0
    for element, pattern, limits in _ELEMENTS:
        found = re.compile(pattern, re.ASCII).match(text, at)
        if found is None:
            raise ValueError(
                f'parsing time {quoted(text)} as "{_LAYOUT}": cannot parse {quoted(text[at:])} as "{element}"'
            )
        if limits is not None and not limits[1] <= int(found[0][:2]) <= limits[2]:
            raise ValueError(f"parsing time {quoted(text)}: {limits[0]} out of range")
        at = found.end()
    if at < len(text):
        raise ValueError(f"parsing time {quoted(text)}: extra text: {quoted(text[at:])}")
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the month has fewer days
        raise ValueError(f"parsing time {quoted(text)}: day out of range") from None
