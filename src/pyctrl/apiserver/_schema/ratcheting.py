"""Ratcheting: errors in unchanged parts of an object are ignored on update.

Values are compared with the old values: by name in objects, by key in lists of type map. Items of other lists have no
old values: the list is unchanged as a whole, or all items are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyctrl.apiserver._schema.schema import JSON, SchemaNode, list_key

__all__ = ["ABSENT", "is_unchanged", "items_by_key"]


ABSENT: Final[Any] = object()  # there is no old value


def is_unchanged(node: SchemaNode, new: JSON, old: JSON) -> bool:
    """Return whether a value is the same as the old value, by the schema; fields without a schema have no old value."""
    if isinstance(new, dict):
        if not isinstance(old, dict) or new.keys() != old.keys():
            return False
        children = ((node.child(key), item, old[key]) for key, item in new.items())
        return all(child is not None and is_unchanged(child, item, before) for child, item, before in children)
    if isinstance(new, list) and isinstance(old, list) and node.list_type == "map":
        return len(new) == len(old) and _has_same_items(node, new, old)
    return _is_same(new, old)


def _has_same_items(node: SchemaNode, new: list[JSON], old: list[JSON]) -> bool:
    known, items = items_by_key(node, old), node.items
    if items is None:
        return not new
    found = ((item, known.get(list_key(item, node.map_keys, items))) for item in new)
    return all(before is not None and is_unchanged(items, item, before) for item, before in found)


def _is_same(left: JSON, right: JSON) -> bool:
    """Return whether two values are equal; true and 1 are not."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return False
        return all(_is_same(item, right[key]) for key, item in left.items())
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(_is_same, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def items_by_key(node: SchemaNode, old: JSON) -> Mapping[tuple[JSON, ...] | None, JSON]:
    """Return the items of a list of type map by their keys; {} for other lists."""
    if node.list_type != "map" or not isinstance(old, list):
        return {}
    return {list_key(item, node.map_keys, node.items): item for item in old}
