"""Durations as kubectl and Go write them: `90s`, `1h30m`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from cyclopts import Token

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def duration(kind: Any, tokens: Sequence[Token]) -> timedelta:
    """Read the value of a flag: `1h30m`, `90s`, `500ms`; a number alone is seconds. For `Parameter(converter=…)`."""
    text = tokens[0].value
    if re.fullmatch(r"\d+", text):
        text += "s"
    if not re.fullmatch(f"(?:{_PART.pattern})+", text):
        raise ValueError(f"{tokens[0].value!r} is not a duration; 90s, 15m or 1h30m was expected")
    found = timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text)))
    if not found:
        raise ValueError(f"{tokens[0].value!r} is no time at all; more than 0 was expected")
    return found
