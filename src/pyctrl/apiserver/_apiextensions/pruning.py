"""Pruning of fields that a structural schema does not specify."""

from __future__ import annotations

from collections.abc import Callable

from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["prune"]


_IMPLICIT = frozenset({"apiVersion", "kind", "metadata"})
EmbeddedField = Callable[
    [str, JSON, str, list[str]], JSON
]  # decodes apiVersion, kind or metadata of an embedded object


def prune(node: SchemaNode, value: JSON, unknown: list[str], read: EmbeddedField, *, is_object: bool = True) -> None:
    """Drop unknown fields in place and add their paths to `unknown`, sorted.

    Args:
        read: Reads the apiVersion, kind or metadata of an embedded object; takes the name of the field, its value, its
            path, and the list of unknown fields.
        is_object: The value is a whole object (with apiVersion, kind and metadata), not a part of one.
    """
    embedded: list[str] = []
    _Pruning(unknown, embedded, read).prune(node, value, "", is_object)
    unknown.sort()
    unknown.extend(embedded)  # kube-apiserver reports fields of embedded objects last


class _Pruning:
    __slots__ = ("_embedded", "_read", "_unknown")

    def __init__(self, unknown: list[str], embedded: list[str], read: EmbeddedField) -> None:
        self._unknown, self._embedded = unknown, embedded
        self._read = read

    def prune(self, node: SchemaNode, value: JSON, path: str, is_object: bool, preserves: bool = False) -> None:
        preserves = preserves or node.preserve
        if type(value) is dict:
            self._dict(node, value, path, is_object or node.embedded, preserves)
        elif type(value) is list and node.items is not None:
            for index, item in enumerate(value):
                if type(item) in (dict, list):  # a list that preserves unknown fields preserves those of its items
                    self.prune(node.items, item, f"{path}[{index}]", False, preserves)

    def _dict(self, node: SchemaNode, value: dict[str, JSON], path: str, is_object: bool, preserves: bool) -> None:
        pruned: list[str] = []
        properties, additional = node.properties, node.additional
        for key, item in value.items():
            child = properties.get(key) or additional
            if is_object and key in _IMPLICIT:
                if node.embedded:
                    value[key] = self._read(key, item, f"{path}.{key}", self._embedded)
            elif child is not None:
                if type(item) in (dict, list):
                    self.prune(child, item, f"{path}.{key}" if path else key, False)
            elif not preserves:
                pruned.append(key)
        for key in pruned:
            del value[key]
            self._unknown.append(f"{path}.{key}" if path else key)
