"""Defaulting by a schema, and pruning of nulls before it."""

from __future__ import annotations

from pyctrl.apiserver._schema.schema import JSON, NO_DEFAULT, SchemaNode

__all__ = ["apply_defaults", "copied", "prune_nulls", "set_defaults", "set_missing"]


def apply_defaults(node: SchemaNode, value: JSON) -> None:
    """Set missing fields to their defaults, in place, outermost first: defaults also apply inside a default object."""
    if not node.has_defaults:
        return
    if type(value) is dict:
        for key, child in node.properties.items():
            if key not in value:
                if child.default is NO_DEFAULT:
                    continue
                value[key] = copied(child.default)
            apply_defaults(child, value[key])
        if node.additional is not None and node.additional.has_defaults:
            for key, item in value.items():
                if key not in node.properties:
                    apply_defaults(node.additional, item)
    elif type(value) is list and node.items is not None and node.items.has_defaults:
        for item in value:
            apply_defaults(node.items, item)


def prune_nulls(node: SchemaNode, value: JSON, *, only_defaulted: bool = False) -> None:
    """Drop nulls that the schema does not allow; defaulting then sets fields with a default.

    Args:
        only_defaulted: Keep nulls of fields without a default, which validation then rejects.
    """
    if type(value) is dict:
        for key in [key for key, item in value.items() if item is None]:
            child = node.child(key)
            if child is None or child.nullable or (only_defaulted and child.default is NO_DEFAULT):
                continue
            del value[key]
        for key, item in value.items():
            if type(item) in (dict, list) and (child := node.child(key)) is not None:
                prune_nulls(child, item, only_defaulted=only_defaulted)
    elif type(value) is list and node.items is not None:
        for item in value:
            prune_nulls(node.items, item, only_defaulted=only_defaulted)


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
