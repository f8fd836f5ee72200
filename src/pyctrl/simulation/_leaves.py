"""Leaves of an object: its fields by path, without what changes with every write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["leaves", "value_at"]

#: What changes with every write, or is the server's.
_VOLATILE = frozenset({"resourceVersion", "managedFields", "generation", "uid", "creationTimestamp", "selfLink"})


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each leaf of an object, such as ``.spec.ports[0].name``."""
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            if not (path == ".metadata" and name in _VOLATILE):
                yield from leaves(each, f"{path}.{name}")
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for place, each in enumerate(value):
            yield from leaves(each, f"{path}[{place}]")
    else:
        yield path, value


def value_at(value: Any, *path: str) -> Any:
    """Return a value inside of an object; None if there is none."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
