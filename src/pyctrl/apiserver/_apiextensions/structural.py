"""Validation of structural schemas in definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from pyctrl._go.regexp_syntax import pattern_error
from pyctrl._validation.formats import is_known_format
from pyctrl.apiserver._apiextensions.pruning import prune
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON, compile_structural
from pyctrl.apiserver._schema.validation import validate

__all__ = ["has_defaults", "unknown_formats", "validate_schema"]


Schema: TypeAlias = Mapping[str, JSON]
TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_UNSUPPORTED_POINTERS = ("additionalItems", "dependencies", "$ref")  # an empty value counts as set
_TYPE_META = ("metadata", "kind", "apiVersion")
_EMPTY_AT = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_NESTED = {  # fields that are forbidden inside allOf, anyOf, oneOf and not -> error
    "type": "must be empty to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "additionalProperties": "must be undefined to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_POINTERS = (
    "default",
    "additionalProperties",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
)  # an empty value counts as set
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def validate_schema(schema: Schema, path: str, *, limits_expressions: bool = True) -> list[FieldError]:
    """Validate the schema of one or all versions of a definition.

    Args:
        schema: The schema.
        path: Its path in the definition.
        limits_expressions: An expensive expression is an error; only the sum of all costs has a limit otherwise.
    """
    causes = (
        [field_forbidden(f"{path}.nullable", "nullable cannot be true at the root")] if schema.get("nullable") else []
    )
    unsupported = _unsupported(schema)
    if not unsupported:
        structural = sorted(set(_structure(schema, "root", path)), key=lambda cause: f"{cause.field}: {cause.message}")
        causes += structural or _defaults(schema, path, "root")
    is_sound = not causes and not unsupported
    causes += _openapi(schema, path, _Place(is_root=True))
    if is_sound:
        causes += _rule_errors(schema, path, causes, limits_expressions=limits_expressions)
    elif not causes:
        causes.append(invalid_value(path, "", f"OpenAPIV3Schema {unsupported}"))
    return causes


def _rule_errors(schema: Schema, path: str, causes: list[FieldError], *, limits_expressions: bool) -> list[FieldError]:
    if not compile_structural(schema).rules:
        return []
    from pyctrl.apiserver._apiextensions.cel_rules import rule_compilation_errors  # lazy: few definitions have rules

    return rule_compilation_errors(schema, path, causes, limits_expressions=limits_expressions)


def unknown_formats(schema: Schema) -> Iterator[str]:
    """Yield the formats that the server does not validate."""
    name = schema.get("format")
    if name and not is_known_format(name, schema.get("type", "")):
        yield name
    for each, _ in _children(schema, ""):
        yield from unknown_formats(each)


def has_defaults(schema: Schema) -> bool:
    """Return whether a schema has a default anywhere."""
    return schema.get("default") is not None or any(has_defaults(each) for each, _ in _children(schema, ""))


def _children(schema: Schema, path: str) -> Iterator[tuple[Schema, str]]:
    """Yield the schemas directly inside a schema, with their paths."""
    for key, each in (schema.get("properties") or {}).items():
        yield each, f"{path}.properties[{key}]"
    for key in ("additionalProperties", "items", "not"):
        if isinstance(schema.get(key), Mapping):
            yield schema[key], f"{path}.{key}"
    for key in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(schema.get(key) or ()):
            yield each, f"{path}.{key}[{index}]"


def _unsupported(schema: Schema) -> str:
    """Return why a schema cannot be structural at all, or ""."""
    if isinstance(schema.get("items"), list):
        return "'items' must be a schema, but is an array"
    for key in ("id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"):
        if schema.get(key) or (key == "additionalItems" and schema.get(key) is not None):
            return f"'{key.removeprefix('$') if key == '$schema' else key}' is not supported"
    return next((why for each, _ in _children(schema, "") if (why := _unsupported(each))), "")


# -- OpenAPI fields that definitions cannot use ----------------------------------------------------------------


class _Place(NamedTuple):
    """Where a schema is, as far as its errors depend on that."""

    is_root: bool = False
    is_in_metadata: bool = False
    no_defaults: str = ""  # why defaults are refused

    def below(self, schema: Schema, key: str) -> _Place:
        """Return the place of a property of a schema here."""
        if key not in _TYPE_META or not (self.is_root or schema.get("x-kubernetes-embedded-resource")):
            return self._replace(is_root=False)
        return _Place(is_in_metadata=True, no_defaults=f"in top-level {key}" if self.is_root else self.no_defaults)

    @property
    def values(self) -> _Place:
        """The place of the values of a map here."""
        why = "inside additionalProperties applying to object metadata"
        return self._replace(is_root=False, no_defaults=why if self.is_in_metadata else self.no_defaults)


def _openapi(schema: Schema, path: str, place: _Place) -> Iterator[FieldError]:
    yield from _standard(schema, path, place)
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield field_forbidden(f"{path}.uniqueItems", why)
    additional = schema.get("additionalProperties")
    if schema.get("properties") and additional not in (None, True):
        why = "additionalProperties and properties are mutual exclusive"
        yield field_forbidden(f"{path}.additionalProperties", why)
    if isinstance(additional, Mapping):
        yield from _openapi(additional, f"{path}.additionalProperties", place.values)
    for key, each in (schema.get("properties") or {}).items():
        yield from _openapi(each, f"{path}.properties[{key}]", place.below(schema, key))
    others = {key: schema[key] for key in ("not", "allOf", "oneOf", "anyOf", "items") if key in schema}
    for each, where in _children(others, path):
        yield from _openapi(each, where, place._replace(is_root=False))
    yield from _extensions(schema, path)
    if schema.get("x-kubernetes-validations"):
        from pyctrl.apiserver._apiextensions.cel_rules import rule_field_errors  # lazy: few definitions have rules

        yield from rule_field_errors(schema, path)


def _standard(schema: Schema, path: str, place: _Place) -> Iterator[FieldError]:
    """Check fields of OpenAPI that a schema may not have, or not everywhere."""
    kind = schema.get("type")
    if kind and kind not in TYPES:
        yield not_supported(f"{path}.type", kind, TYPES)
    if schema.get("default") is not None and place.no_defaults:
        yield field_forbidden(f"{path}.default", f"must not be set {place.no_defaults}")
    for key in _UNSUPPORTED:
        if schema.get(key) or (key in _UNSUPPORTED_POINTERS and schema.get(key) is not None):
            yield field_forbidden(f"{path}.{key}", f"{key} is not supported")
    if kind == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        yield field_forbidden(f"{path}.type", why)
    if schema.get("items") and isinstance(schema["items"], list):
        yield field_forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.is_in_metadata and schema.get("x-kubernetes-embedded-resource"):
        yield field_forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")


def _extensions(schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid_value(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    list_type, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
    yield from _extended_type(schema, path, "x-kubernetes-map-type", "object")
    yield from _one_of(schema, path, "x-kubernetes-map-type", ("atomic", "granular"))
    yield from _extended_type(schema, path, "x-kubernetes-list-type", "array")
    if list_type == "set" and schema.get("type") == "array":
        yield from _set_items(schema, path)
    yield from _one_of(schema, path, "x-kubernetes-list-type", ("atomic", "set", "map"))
    if keys and list_type != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        where = f"{path}.x-kubernetes-list-type"
        yield required(where, why) if list_type is None else invalid_value(where, list_type, why)
    if list_type == "map":
        yield from _map_items(schema, path)
    items = schema.get("items")
    if list_type in ("set", "map") and isinstance(items, Mapping):
        if items.get("nullable"):
            why = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
            yield field_forbidden(f"{path}.items.nullable", why)
        for key in (keys or ()) if list_type == "map" else ():
            yield from _map_key(items, key, path)


def _extended_type(schema: Schema, path: str, key: str, kind: str) -> Iterator[FieldError]:
    """Check the type of a schema with an extension that only this type has."""
    found = schema.get("type")
    if schema.get(key) is not None and found != kind:
        why = f"must be {kind} if {key} is specified"
        yield invalid_value(f"{path}.type", found, why) if found else required(f"{path}.type", why)


def _one_of(schema: Schema, path: str, key: str, allowed: tuple[str, ...]) -> Iterator[FieldError]:
    if schema.get(key) is not None and schema[key] not in allowed:
        yield not_supported(f"{path}.{key}", schema[key], allowed)


def _set_items(schema: Schema, path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return
    key = {"object": "x-kubernetes-map-type", "array": "x-kubernetes-list-type"}.get(items.get("type", ""))
    if key and items.get(key) != "atomic" and (key in items or key == "x-kubernetes-map-type"):  # lists are atomic
        why = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield invalid_value(f"{path}.items.{key}", items.get("x-kubernetes-list-type"), why)


def _map_items(schema: Schema, path: str) -> Iterator[FieldError]:
    keys = schema.get("x-kubernetes-list-map-keys") or []
    items = schema.get("items")
    where = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield required(where, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, Mapping):
        return
    if items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid_value(f"{path}.items.type", items.get("type", ""), why)
        return
    for index, key in enumerate(keys):
        member = (items.get("properties") or {}).get(key)
        if member is None:
            yield invalid_value(where, keys, "entries must all be names of item properties")
        elif member.get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid_value(f"{path}.items.properties[{key}].type", items.get("type"), why)
        if key in keys[:index]:
            yield invalid_value(where, keys, "must not contain duplicate entries")


def _map_key(items: Schema, key: str, path: str) -> Iterator[FieldError]:
    member = (items.get("properties") or {}).get(key)
    if member is None:
        return
    where = f"{path}.items.properties[{key}]"
    if member.get("default") is None and key not in (items.get("required") or ()):
        why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
        yield required(f"{where}.default", why)
    if member.get("nullable"):
        why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
        yield field_forbidden(f"{where}.nullable", why)


# -- structure -------------------------------------------------------------------------------------------------


def _structure(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    items, additional = schema.get("items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    yield from _pattern(schema, path)
    if additional is not None and level == "root":
        yield field_forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if additional is not None and schema.get("x-kubernetes-embedded-resource"):
        why = "must not be used if x-kubernetes-embedded-resource is set"
        yield field_forbidden(f"{path}.additionalProperties", why)
    if isinstance(items, Mapping):
        yield from _structure(items, "item", f"{path}.items")
    for key, each in (schema.get("properties") or {}).items():
        yield from _structure(each, "field", f"{path}.properties[{key}]")
    if isinstance(additional, Mapping):
        yield from _structure(additional, "field", f"{path}.additionalProperties")
    yield from _type(schema, level, path)
    yield from _nested_parts(schema, path)
    if level == "root" or schema.get("x-kubernetes-embedded-resource"):
        yield from _object_fields(schema, level, path)


def _pattern(schema: Schema, path: str) -> Iterator[FieldError]:
    if why := pattern_error(schema.get("pattern") or ""):
        yield invalid_value(
            f"{path}.pattern", schema["pattern"], f"must be a valid regular expression, but isn't: {why}"
        )


def _type(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    kind, embedded = schema.get("type"), schema.get("x-kubernetes-embedded-resource")
    either, preserve = schema.get("x-kubernetes-int-or-string"), schema.get("x-kubernetes-preserve-unknown-fields")
    where = f"{path}.type"
    if embedded and kind != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid_value(where, kind, why) if kind else required(where, why)
    elif not kind and not either and not preserve:
        yield required(where, _EMPTY_AT[level])
    if either and preserve:
        why = "must be false if x-kubernetes-int-or-string is true"
        yield invalid_value(f"{path}.x-kubernetes-preserve-unknown-fields", True, why)
    if level == "root" and kind and kind != "object":
        yield invalid_value(where, kind, "must be object at the root")
    if embedded and not preserve and not schema.get("properties"):
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        yield required(f"{path}.properties", why)


def _object_fields(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    properties = schema.get("properties") or {}
    for key in ("kind", "apiVersion"):
        if key in properties and properties[key].get("type") != "string":
            yield invalid_value(f"{path}.properties[{key}].type", properties[key].get("type", ""), "must be string")
    metadata = properties.get("metadata")
    if metadata is None:
        return
    where = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        yield invalid_value(f"{where}.type", metadata.get("type", ""), "must be object")
    extra = set(metadata) - {"type", "properties", "default", "description"}
    if level == "root" and (extra or set(metadata.get("properties") or {}) - {"name", "generateName"}):
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield field_forbidden(where, why)


def _nested_parts(schema: Schema, path: str) -> Iterator[FieldError]:
    either = bool(schema.get("x-kubernetes-int-or-string"))
    if isinstance(schema.get("not"), Mapping):
        yield from _nested(schema["not"], schema, f"{path}.not")
    for key in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(key) or []
        if either and key == "anyOf" and branches == _INT_OR_STRING:
            continue
        for index, each in enumerate(branches):
            if either and key == "allOf" and index == 0 and each.get("anyOf") == _INT_OR_STRING:
                continue
            yield from _nested(each, schema, f"{path}.{key}[{index}]")


def _nested(branch: Schema, structure: Schema, path: str) -> Iterator[FieldError]:
    yield from _pattern(branch, path)
    for key, why in _NESTED.items():
        if branch.get(key) or (key in _POINTERS and branch.get(key) is not None):
            yield field_forbidden(f"{path}.{key}", why)
    for key, each in (branch.get("properties") or {}).items():
        where = f"{path}.properties[{key}]"
        inner = (structure.get("properties") or {}).get(key)
        if key == "metadata":
            yield field_forbidden(where, "must not be specified in a nested context")
        else:
            yield from _nested(each, inner or {}, where)
    if isinstance(branch.get("items"), Mapping) and isinstance(structure.get("items"), Mapping):
        yield from _nested(branch["items"], structure["items"], f"{path}.items")
    for each, where in _children(
        {key: branch[key] for key in ("not", "allOf", "anyOf", "oneOf") if key in branch}, path
    ):
        yield from _nested(each, structure, where)


# -- defaults --------------------------------------------------------------------------------------------------


def _defaults(schema: Schema, path: str, level: str = "field") -> Iterator[FieldError]:
    """Validate defaults: they are valid and without unknown fields. Those in top-level metadata are refused before."""
    default = schema.get("default")
    if default is not None and level != "metadata":
        node = compile_structural(schema)
        unknown: list[str] = []
        prune(node, copied(default), unknown, lambda _key, field, _path, _unknown: field, is_object=False)
        if unknown:
            yield invalid_value(f"{path}.default", default, "must not have unknown fields")
        found = validate(node, default, f"{path}.default")
        if not found and node.rules:
            from pyctrl.apiserver._apiextensions.cel_validation import compile_rules  # lazy: few definitions have rules

            found = compile_rules(schema, is_resource=level == "root").validate_default(default, f"{path}.default")
        yield from found
        if level == "root":
            yield from (required(f"{path}.default.{key}") for key in ("apiVersion", "kind") if not default.get(key))
    for each, where in _children(schema, path):
        is_metadata = level == "metadata" or (level == "root" and where == f"{path}.properties[metadata]")
        yield from _defaults(each, where, "metadata" if is_metadata else "field")
