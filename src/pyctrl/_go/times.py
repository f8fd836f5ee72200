"""Times: Go's `time.Parse` with the layouts RFC 3339 and RFC 3339 with microseconds, and its errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from pyctrl._go.text import quoted

__all__ = ["parse_rfc3339", "parse_rfc3339_micro"]

_Element: TypeAlias = tuple[str, str, tuple[str, int, int] | None]

_LAYOUT, _MICRO_LAYOUT = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000Z07:00"
# The elements of the layout in their order: each with its pattern and, for a number, its name and its limits.
_ELEMENTS: tuple[_Element, ...] = (
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
_MICRO_ELEMENTS = (*_ELEMENTS[:-2], ("05", r"\d\d", ("second", 0, 59)), (".000000", r"[.,]\d{6}", None), _ELEMENTS[-1])


def parse_rfc3339(text: str) -> datetime:
    """Return a time.

    Raises:
        ValueError: It is not a time in RFC 3339; the message is Go's.
    """
    return _parse(text, _LAYOUT, _ELEMENTS)


def parse_rfc3339_micro(text: str) -> datetime:
    """Return a time with exactly six digits of a second's fraction.

    Raises:
        ValueError: It is not such a time; the message is Go's.
    """
    return _parse(text, _MICRO_LAYOUT, _MICRO_ELEMENTS)


def _parse(text: str, layout: str, elements: Sequence[_Element]) -> datetime:
    at = 0
    for element, pattern, limits in elements:
        found = re.compile(pattern, re.ASCII).match(text, at)
        if found is None:
            raise ValueError(
                f'parsing time {quoted(text)} as "{layout}": cannot parse {quoted(text[at:])} as "{element}"'
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
