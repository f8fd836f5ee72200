"""Defaulting by a schema, and pruning of nulls before it."""

from __future__ import annotations

from pyctrl.apiserver._schema.schema import JSON, NO_DEFAULT, SchemaNode

__all__ = ["apply_defaults", "copied", "prune_nulls", "set_defaults", "set_missing"]


def apply_defaults(node: SchemaNode, value: JSON) -> None:
    """Set fields to their defaults where they are missing, or null and not nullable, in place.

    It works outermost first, so that defaults also apply inside a default object. A null item of a list, or a null
    value of a map, becomes the default of the items or values.
    """
    if not node.has_defaults:
        return
    if type(value) is dict:
        for key, child in node.properties.items():
            if key not in value:
                if child.default is NO_DEFAULT:
                    continue
                value[key] = copied(child.default)
            value[key] = _defaulted(child, value[key])
        if node.additional is not None and node.additional.has_defaults:
            for key, item in value.items():
                if key not in node.properties:
                    value[key] = _defaulted(node.additional, item)
    elif type(value) is list and node.items is not None and node.items.has_defaults:
        value[:] = [_defaulted(node.items, item) for item in value]


def _defaulted(node: SchemaNode, value: JSON) -> JSON:
    if value is None and node.default is not NO_DEFAULT and not node.nullable:
        value = copied(node.default)
    apply_defaults(node, value)
    return value


def prune_nulls(node: SchemaNode, value: JSON) -> None:
    """Remove null fields that are not nullable and have no default; those with a default get it later."""
    if type(value) is dict:
        for key in [key for key, item in value.items() if item is None]:
            child = node.child(key)
            if child is not None and not child.nullable and child.default is NO_DEFAULT:
                del value[key]
        for key, item in value.items():
            if type(item) in (dict, list) and (child := node.child(key)) is not None:
                prune_nulls(child, item)
    elif type(value) is list and node.items is not None:
        for item in value:
            prune_nulls(node.items, item)


def set_missing(obj: dict[str, JSON], **values: JSON) -> None:
    """Set fields that are missing or null; an empty string is a value of a pointer in Go."""
    for key, value in values.items():
        if obj.get(key) is None:
            obj[key] = value


def set_defaults(obj: dict[str, JSON], **values: JSON) -> None:
    """Set fields that are missing, null or an empty string."""
    for key, value in values.items():
        if obj.get(key) is None or obj[key] == "":
            obj[key] = value


def copied(value: JSON) -> JSON:
    """Copy a JSON value."""
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if type(value) is list else value
