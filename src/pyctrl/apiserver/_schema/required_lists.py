"""Lists that Go writes even if they are absent: `null`, and an empty list only until the object is stored.

An empty list in a request is an empty list for the validation, whose errors show it, and for the managed fields. The
storage does not tell it from an absent one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

import msgspec

from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["EmptyLists", "RequiredLists"]

_Path: TypeAlias = tuple[str, ...]


class EmptyLists(msgspec.Struct, frozen=True):
    """Lists of an object that were empty and are null now, each as a map and its key."""

    places: list[tuple[dict[str, JSON], str]]

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Have them empty until the block ends."""
        for parent, key in self.places:
            parent[key] = []
        try:
            yield
        finally:
            for parent, key in self.places:
                parent[key] = None


class RequiredLists:
    """The paths of such lists of a kind, but for those in items of other lists."""

    def __init__(self, schema: SchemaNode) -> None:
        self._paths = tuple(_paths(schema, (), frozenset()))

    def take(self, obj: dict[str, JSON]) -> EmptyLists:
        """Set the empty ones to null; return them."""
        places = []
        for *above, key in self._paths:
            parent: JSON = obj
            for each in above:
                parent = parent.get(each) if isinstance(parent, Mapping) else None
            if isinstance(parent, dict) and parent.get(key) == []:
                parent[key] = None
                places.append((parent, key))
        return EmptyLists(places)


def _paths(node: SchemaNode, path: _Path, above: frozenset[int]) -> Iterator[_Path]:
    if id(node) in above:
        return
    zeros = node.go.zeros if node.go is not None else ()
    yield from ((*path, key) for key, zero in zeros if zero is None and node.properties[key].type == "array")
    for key, child in node.properties.items():
        if child.properties:
            yield from _paths(child, (*path, key), above | {id(node)})
