"""Values as Go's `%v` prints them, which some of kube-apiserver's messages show."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["go_text", "quoted", "shown_value"]

_CONTROL = re.compile(r"\\u00([01][0-9a-f]|7f)")
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def go_text(value: Any) -> str:
    """Print a value as Go's `%v` does."""
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
    """Print a string as Go's `%q` does."""
    return _CONTROL.sub(r"\\x\1", json.dumps(text, ensure_ascii=False))


def shown_value(value: object) -> str:
    """Print a value as a field error shows it: strings quoted, everything else as Go's JSON."""
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_HTML)
