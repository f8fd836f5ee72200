"""Values formatted as by Go's `%v` and `%q`, for messages of kube-apiserver."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["aggregate_messages", "go_text", "quoted", "shown_value"]

_CONTROL = re.compile(r"\\u00([01][0-9a-f]|7f)")
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


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
    return str(value)


def quoted(text: str) -> str:
    """Format a string as Go's `%q` does."""
    return _CONTROL.sub(r"\\x\1", json.dumps(text, ensure_ascii=False))


def aggregate_messages(messages: Iterable[str]) -> str:
    """Join error messages as apimachinery's `errors.NewAggregate` does: each once, in brackets if there are several."""
    unique = list(dict.fromkeys(messages))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def shown_value(value: object) -> str:
    """Format a value as in a field error: strings quoted, all other values as Go's JSON."""
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_HTML)
