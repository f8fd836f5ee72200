"""What is left of a strategic merge patch after it was merged, as the errors of kube-apiserver print it.

The merge there changes the patch: it removes the directives that it has obeyed, and the nulls of values that it copies.
"""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["merged_patch"]

_PATCH, _RETAIN, _ORDER = "$patch", "$retainKeys", "$setElementOrder/"


def merged_patch(live: dict[str, JSON], patch: dict[str, JSON], node: SchemaNode | None) -> dict[str, JSON]:
    """Return the patch as merging it into the live object leaves it."""
    if _PATCH in patch:
        return {key: each for key, each in patch.items() if key != _PATCH or patch[_PATCH] != "replace"}
    ordered = {key.removeprefix(_ORDER) for key in patch if key.startswith(_ORDER)}
    return {
        key: _merged_value(live.get(key), value, node.child(key) if node is not None else None)
        for key, value in patch.items()
        if key != _RETAIN and not key.startswith(_ORDER) and key not in ordered
    }


def _merged_value(live: JSON, value: JSON, node: SchemaNode | None) -> Any:
    if live is None or type(live) is not type(value):
        return _without_nulls(value)
    if isinstance(value, dict):
        return value if node is not None and node.replace else merged_patch(live, value, node)
    if isinstance(value, list) and node is not None and node.merge and node.merge_key:
        key = node.merge_key
        known = {each[key]: each for each in live if isinstance(each.get(key), str | int)}
        return [
            merged_patch(known[each[key]], each, node.items)
            if isinstance(each, dict) and _PATCH not in each and each.get(key) in known
            else each
            for each in value
        ]
    return value


def _without_nulls(value: JSON) -> JSON:
    """Return a copied value: without the nulls of its maps, and without maps that are directives."""
    if isinstance(value, dict):
        return {
            key: _without_nulls(each)
            for key, each in value.items()
            if each is not None and not (isinstance(each, dict) and _PATCH in each)
        }
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
