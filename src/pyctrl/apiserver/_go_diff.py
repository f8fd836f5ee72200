"""How kube-apiserver shows what changed in something that may not: the difference of two of its Go structs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pyctrl.apiserver._schema import JSON

#: A Go struct: its field names in order, where each is in the object, and what it is when it is absent.
Fields: TypeAlias = Sequence[tuple[str, str, JSON]]

CONTEXT = 3  # lines around a change


def go_struct(value: Mapping[str, JSON] | None, fields: Fields) -> dict[str, JSON] | None:
    """Give an object as its internal Go type prints: every field, under its Go name."""
    if value is None:
        return None
    return {name: value.get(key, absent) for name, key, absent in fields}


def go_diff(old: JSON, new: JSON) -> str:
    """Give the lines that differ, with some around them, as a unified diff without its head; ends with a newline."""
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).splitlines(keepends=True) for each in (old, new))
    before[-1], after[-1] = before[-1] + "\n", after[-1] + "\n"
    lines = list(difflib.unified_diff(before, after, n=CONTEXT))
    return "\n" + "".join(lines[2:])
