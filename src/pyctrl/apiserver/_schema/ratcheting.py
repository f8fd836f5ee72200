"""Ratcheting: what was wrong with an object before, and is not touched, is let be.

Values are compared with those they replace: by name in objects, by key in lists that are maps. Items of other lists
have no predecessors: the list is the same as a whole, or all of it is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyctrl.apiserver._schema.schema import JSON, SchemaNode, list_key

ABSENT: Final[Any] = object()  # nothing was there before


def is_same(left: JSON, right: JSON) -> bool:
    """Compare two values; true is not one."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return False
        return all(is_same(item, right[key]) for key, item in left.items())
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(is_same, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def items_by_key(node: SchemaNode, old: JSON) -> Mapping[tuple[JSON, ...] | None, JSON]:
    """Give the items of a list that is a map by their keys; nothing for other lists."""
    if node.list_type != "map" or not isinstance(old, list):
        return {}
    return {list_key(item, node.map_keys, node.items): item for item in old}
