"""Defaults that the server fills in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from pydantic import BaseModel, RootModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, PydanticUndefined

from pyctrl.api import NoServerDefault, ServerDefault
from pyctrl.manifests._schema.annotations import first_metadata, has_metadata
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import JSON, Schema
from pyctrl.manifests._schema.wire_names import wire_name

__all__ = ["default_of", "has_defaults"]


def default_of(
    cls: type[BaseModel], name: str, beside: Sequence[Any], schema: Schema, place: Location, problems: Problems
) -> JSON | UnsetType:
    """Return the value that the server fills in for an absent field; ``UNSET`` for none.

    There is none if an absent field reads the same anyway (None, or an empty string, list or map), or if the default
    differs on each call. The default of a model has only the fields that were set on it, unless there are rules.
    """
    info = cls.model_fields[name]
    if marker := first_metadata(ServerDefault, beside):
        return marker.value
    if info.is_required() or has_metadata(NoServerDefault, beside):
        return UNSET
    value = _value(info)
    if isinstance(value, (SecretStr, SecretBytes)):
        return UNSET  # definitions are readable by all users
    if value is None or value is PydanticUndefined or (isinstance(value, Collection) and not value):
        return UNSET
    wire = _on_wire(cls, name, value, place, problems)
    if wire == {} and not has_defaults(schema):
        return UNSET
    return _filled(schema, wire) if _has_rules(schema) else wire


def _has_rules(schema: Schema) -> bool:
    """Return whether there is a validation rule in a schema."""
    below = (*schema.properties.values(), schema.items, schema.additional_properties)
    return bool(schema.validations) or any(each is not None and _has_rules(each) for each in below)


def _filled(schema: Schema, value: JSON) -> JSON:
    """Return a default with the defaults inside: the server evaluates its rules before it fills these in."""
    if isinstance(value, list) and schema.items is not None:
        return [_filled(schema.items, each) for each in value]
    if not isinstance(value, dict):
        return value
    missing = {
        key: each.default for key, each in schema.properties.items() if key not in value and each.default is not UNSET
    }
    other = schema.additional_properties or Schema()
    return {key: _filled(schema.properties.get(key, other), each) for key, each in {**value, **missing}.items()}


def _value(info: FieldInfo) -> Any:
    if info.default_factory is None:
        return info.default
    if info.default_factory_takes_validated_data:
        return None
    one, other = (info.get_default(call_default_factory=True) for _ in range(2))
    return one if one == other else None


def _on_wire(cls: type[BaseModel], name: str, value: Any, place: Location, problems: Problems) -> JSON:
    """Return a default in the wire form of its class."""
    obj = cls.model_construct(_fields_set={name}, **{name: value})
    try:
        wire = obj.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude_none=True, include={name}, warnings="error"
        )
    except (PydanticSerializationError, TypeError, ValueError, AttributeError) as error:
        problems.report(place, f"the default {value!r} cannot be written: {error}", "give it a default of its type")
        return UNSET
    return _in_order(value, wire.get(wire_name(name, cls.model_fields[name]), UNSET))


def _in_order(value: Any, wire: JSON) -> JSON:
    """Sort the items of sets: their order in Python differs between processes."""
    if isinstance(value, RootModel):
        return _in_order(value.root, wire)
    if isinstance(value, (set, frozenset)):
        return sorted(wire, key=lambda item: (str(type(item)), item))
    if isinstance(value, (list, tuple)):
        return [_in_order(item, wired) for item, wired in zip(value, wire, strict=True)]
    if isinstance(value, dict) and isinstance(wire, dict) and len(value) == len(wire):
        return {key: _in_order(item, wired) for item, (key, wired) in zip(value.values(), wire.items(), strict=True)}
    if isinstance(value, BaseModel) and isinstance(wire, dict):
        names = {wire_name(name, info): name for name, info in type(value).model_fields.items()}
        return {key: _in_order(getattr(value, names.get(key, ""), None), wired) for key, wired in wire.items()}
    return wire


def has_defaults(schema: Schema) -> bool:
    """Return whether the server fills in anything in an empty object."""
    return any(each.default is not UNSET for each in schema.properties.values())
