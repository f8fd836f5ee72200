"""Values formatted as by Go's `%v` and `%q`, for messages of kube-apiserver."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

__all__ = ["HTML_ESCAPES", "aggregate_messages", "go_text", "quoted", "shown_value"]

_LETTERS = {"07": r"\a", "0b": r"\v"}  # control characters with a letter that JSON does not have
_CONTROL = re.compile(r"\\u00([01][0-9a-f]|7f)")
HTML_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def go_text(value: Any) -> str:
    """Format a value as Go's `%v` does."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(each)}' for name, each in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "<nil>"
    return _float_text(value) if isinstance(value, float) else str(value)


def _float_text(value: float) -> str:
    """Format a number as `%v` does: with the fewest digits, and with an exponent under -4 or over 5."""
    number = Decimal(repr(value)).normalize()
    exponent = number.adjusted() if number else 0
    if -4 <= exponent <= 5 or not number.is_finite():
        return f"{number:f}"
    return f"{number.scaleb(-exponent):f}e{exponent:+03d}"


def quoted(text: str) -> str:
    """Format a string as Go's `%q` does."""
    return _CONTROL.sub(lambda found: _LETTERS.get(found[1], rf"\x{found[1]}"), json.dumps(text, ensure_ascii=False))


def aggregate_messages(messages: Iterable[str]) -> str:
    """Join error messages as apimachinery's `errors.NewAggregate` does: each once, in brackets if there are several."""
    unique = list(dict.fromkeys(messages))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def shown_value(value: object) -> str:
    """Format a value as in a field error: strings quoted, all other values as Go's JSON."""
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(HTML_ESCAPES)
