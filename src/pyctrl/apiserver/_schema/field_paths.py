"""Simple JSON paths of definitions: `.spec.replicas`, `.status.conditions[0].type`, `.metadata.labels['a.b/c']`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["steps", "value_at"]


_STEP = re.compile(r"\.([A-Za-z0-9_$-]+)|\[(\d+)\]|\[['\"]([^'\"]+)['\"]\]")


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[str | int, ...] | None:
    """Split a simple path into keys and indexes; None for other paths."""
    found: list[str | int] = []
    position = 0
    text = path if path.startswith((".", "[")) else f".{path}"
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            return None
        found.append(int(step[2]) if step[2] is not None else step[1] or step[3])
        position = step.end()
    return tuple(found)


def value_at(obj: Mapping[str, JSON], path: str) -> JSON:
    """Return the value at a simple path, or None."""
    value: JSON = obj
    for step in steps(path) or ():
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return None
    return value
