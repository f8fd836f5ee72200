"""Validation of root schemas of versions with the status subresource, for which few fields are allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyctrl.apiserver._errors import FieldError, invalid_value
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["schema_as_go", "validate_root"]


# The fields of kube-apiserver's internal type, in its order, with their zero values. `_name` maps the fields of
# schemas to them.
_ZEROS: dict[str, JSON] = {
    **dict.fromkeys(("ID", "Schema"), ""),
    "Ref": None,
    **dict.fromkeys(("Description", "Type"), ""),
    "Nullable": False,
    **dict.fromkeys(("Format", "Title"), ""),
    **dict.fromkeys(("Default", "Maximum"), None),
    "ExclusiveMaximum": False,
    "Minimum": None,
    "ExclusiveMinimum": False,
    **dict.fromkeys(("MaxLength", "MinLength"), None),
    "Pattern": "",
    **dict.fromkeys(("MaxItems", "MinItems"), None),
    "UniqueItems": False,
    **dict.fromkeys(("MultipleOf", "Enum", "MaxProperties", "MinProperties", "Required", "Items"), None),
    **dict.fromkeys(("AllOf", "OneOf", "AnyOf", "Not", "Properties", "AdditionalProperties"), None),
    **dict.fromkeys(("PatternProperties", "Dependencies", "AdditionalItems", "Definitions"), None),
    **dict.fromkeys(("ExternalDocs", "Example", "XPreserveUnknownFields"), None),
    **dict.fromkeys(("XEmbeddedResource", "XIntOrString"), False),
    **dict.fromkeys(("XListMapKeys", "XListType", "XMapType", "XValidations"), None),
}
_ALLOWED = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum"),
    *("MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items"),
    *("Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"),
)
_RULE: dict[str, JSON] = {
    **dict.fromkeys(("Rule", "Message", "MessageExpression"), ""),
    "Reason": None,
    "FieldPath": "",
    "OptionalOldSelf": None,
}


def validate_root(schema: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Validate the root schema of a version with the status subresource."""
    shown = schema_as_go(schema)
    if any(value != _ZEROS.get(name) for name, value in shown.items() if name not in _ALLOWED):
        allowed = f"only [{' '.join(_ALLOWED)}] fields are allowed at the root of the schema"
        yield invalid_value(path, shown, f"{allowed} if the status subresource is enabled")


def schema_as_go(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a schema with the field names of kube-apiserver's internal type, for errors."""
    return _ZEROS | {_name(key): _value(key, value) for key, value in schema.items() if value is not None}


def _name(key: str) -> str:
    if key.startswith("x-kubernetes-"):
        return "X" + "".join(part[:1].upper() + part[1:] for part in key.removeprefix("x-kubernetes-").split("-"))
    return {"id": "ID", "$ref": "Ref", "$schema": "Schema"}.get(key, key[:1].upper() + key[1:])


def _value(key: str, value: Any) -> JSON:
    if key == "properties":
        return {name: schema_as_go(value[name]) for name in sorted(value)}
    if key in ("allOf", "anyOf", "oneOf"):
        return [schema_as_go(each) for each in value]
    if key == "not":
        return schema_as_go(value)
    if key == "items":
        return {"Schema": schema_as_go(value) if isinstance(value, Mapping) else None, "JSONSchemas": None}
    if key == "additionalProperties":
        return {"Allows": value is not False, "Schema": schema_as_go(value) if isinstance(value, Mapping) else None}
    if key == "externalDocs":
        return {"Description": value.get("description", ""), "URL": value.get("url", "")}
    return _rules(value) if key == "x-kubernetes-validations" else value


def _rules(rules: Sequence[Mapping[str, JSON]]) -> list[JSON]:
    return [_RULE | {_name(key): value for key, value in rule.items()} for rule in rules]
