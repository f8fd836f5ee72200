"""Fills what a schema knows a default for, after nulls that may not be null are dropped."""

from __future__ import annotations

from pyctrl.apiserver._schema.schema import JSON, NO_DEFAULT, SchemaNode


def apply_defaults(node: SchemaNode, value: JSON) -> None:
    """Set missing fields to their defaults, in place, from the outside in: a default object gets its own defaults."""
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
    """Drop nulls where the schema does not allow them; what has a default gets it afterwards.

    Args:
        only_defaulted: Leave nulls for which there is no default, for validation to refuse.
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
