"""Compiled schemas: trees of `SchemaNode`s that decoding, validation, pruning and patches use.

Structural schemas of definitions are compiled here. Schemas of built-in kinds are compiled from OpenAPI documents in
`components`. Both result in the same nodes, so that list types, merge keys and field sets work alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pyctrl._go.regexp import CompiledPattern, PatternError, go_pattern

__all__ = [
    "JSON",
    "NO_DEFAULT",
    "GoTypeInfo",
    "Reader",
    "SchemaNode",
    "ValueValidations",
    "compile_structural",
    "list_key",
]


JSON: TypeAlias = Any  # a decoded JSON value

NO_DEFAULT: Final = object()

Reader: TypeAlias = (
    "Callable[[SchemaNode, JSON, list[str]], JSON]"  # takes a node, a value, and the list of unknown fields
)


@dataclass(slots=True, eq=False, kw_only=True)
class ValueValidations:
    """Value validations of one node; None for those that the schema does not have."""

    enum: tuple[JSON, ...] | None = None
    format: str = ""
    pattern: CompiledPattern | None = None
    pattern_text: str = ""
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    all_of: tuple[SchemaNode, ...] = ()
    any_of: tuple[SchemaNode, ...] = ()
    one_of: tuple[SchemaNode, ...] = ()
    not_: SchemaNode | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class GoTypeInfo:
    """Facts of a built-in type's Go definition that its OpenAPI document does not have."""

    struct: str = ""  # the name of the struct in decoding errors
    name: str = ""  # the type in decoding errors: string, int32, v1.PodSpec
    scalar: str = ""  # quantity, time, microtime, bytes: strings with a canonical form
    also: type | None = None  # JSON of this type is accepted unchanged
    drop_zero: bool = False  # a value, not a pointer: its zero is omitted
    zeros: tuple[tuple[str, JSON], ...] = ()  # fields that are always written, and the zero written when absent
    structs: tuple[str, ...] = ()  # the same for struct fields: written as the zero of their struct


@dataclass(slots=True, eq=False, kw_only=True)
class SchemaNode:
    """A node of a schema. Nodes can be cyclic (a schema of schemas): do not compare or print them."""

    type: str | None = None
    properties: dict[str, SchemaNode] = field(default_factory=dict)
    additional: SchemaNode | None = None
    closed: bool = False  # additionalProperties: false
    items: SchemaNode | None = None
    required: tuple[str, ...] = ()
    nullable: bool = False
    default: JSON = NO_DEFAULT
    int_or_string: bool = False
    preserve: bool = False
    embedded: bool = False
    open: bool = False  # a built-in type without any fields: raw JSON
    list_type: str = "atomic"
    map_keys: tuple[str, ...] = ()
    atomic: bool = False  # x-kubernetes-map-type: atomic
    merge: bool = False  # x-kubernetes-patch-strategy has "merge"
    replace: bool = False  # x-kubernetes-patch-strategy is "replace"
    merge_key: str = ""
    checks: ValueValidations | None = None
    go: GoTypeInfo | None = None
    has_defaults: bool = False  # a default here or below
    rules: bool = False  # CEL rules here or below
    embeds: bool = False  # an embedded object here or below
    untyped: bool = False  # values without a declared type here or below
    keyed: bool = False  # a list of type set or map here or below
    read: Reader | None = None  # the decoder of a built-in type's values, set by `typed` at first use

    def child(self, key: str) -> SchemaNode | None:
        """Return the node of a key of an object: its property, or that of additional properties."""
        return self.properties.get(key) or self.additional


_SCALAR_CHECKS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minProperties": "min_properties",
    "maxProperties": "max_properties",
    "format": "format",
}
_BRANCHES = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}


def compile_structural(schema: Mapping[str, JSON]) -> SchemaNode:
    """Compile the structural schema of a definition's version, or a schema inside it."""
    additional = schema.get("additionalProperties")
    items = schema.get("items")
    node = SchemaNode(
        type=schema.get("type") or None,
        properties={key: compile_structural(each) for key, each in (schema.get("properties") or {}).items()},
        additional=_additional(additional),
        closed=additional is False,
        items=compile_structural(items) if isinstance(items, Mapping) else None,
        required=tuple(schema.get("required") or ()),
        nullable=bool(schema.get("nullable")),
        default=schema["default"] if schema.get("default") is not None else NO_DEFAULT,
        int_or_string=bool(schema.get("x-kubernetes-int-or-string")),
        preserve=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        list_type=schema.get("x-kubernetes-list-type") or "atomic",
        map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        checks=_checks(schema),
    )
    below = [each for each in (*node.properties.values(), node.additional, node.items) if each]
    node.has_defaults = node.default is not NO_DEFAULT or any(each.has_defaults for each in below)
    node.keyed = node.list_type != "atomic" or any(each.keyed for each in below)
    node.untyped = node.preserve or any(each.untyped for each in below)
    node.embeds = node.embedded or any(each.embeds for each in below)
    node.rules = bool(schema.get("x-kubernetes-validations")) or any(each.rules for each in below)
    return node


def _additional(additional: JSON) -> SchemaNode | None:
    if additional is True:
        return _anything()
    return compile_structural(additional) if isinstance(additional, Mapping) else None


def _anything() -> SchemaNode:
    """Return the node of any value; its objects have no known fields."""
    node = SchemaNode(nullable=True, untyped=True)
    node.items = node
    return node


def _checks(schema: Mapping[str, JSON]) -> ValueValidations | None:
    found = {ours: schema[theirs] for theirs, ours in _SCALAR_CHECKS.items() if schema.get(theirs) is not None}
    for theirs, ours in _BRANCHES.items():
        if schema.get(theirs):
            found[ours] = tuple(_branch(each, schema) for each in schema[theirs])
    if schema.get("not"):
        found["not_"] = _branch(schema["not"], schema)
    if schema.get("enum"):
        found["enum"] = tuple(schema["enum"])
    if schema.get("pattern"):
        found["pattern_text"] = schema["pattern"]
        with suppress(PatternError):  # `structural` rejects the definition
            found["pattern"] = go_pattern(schema["pattern"])
    return ValueValidations(**found) if found else None


def _branch(schema: Mapping[str, JSON], parent: Mapping[str, JSON]) -> SchemaNode:
    """Compile a schema inside allOf, anyOf, oneOf or not: it validates fields of the structural part."""
    node = compile_structural(schema)
    if node.nullable is False and parent.get("nullable"):
        node.nullable = True
    return node


def list_key(item: JSON, keys: Sequence[str], node: SchemaNode | None) -> tuple[JSON, ...] | None:
    """Return the values of a list item's keys, with defaults for absent ones; None if the item has no keys."""
    if not isinstance(item, dict):
        return None
    values = tuple(item[key] if key in item else _default_key(node, key) for key in keys)
    return None if all(value is None for value in values) else values


def _default_key(node: SchemaNode | None, key: str) -> JSON:
    child = node.properties.get(key) if node else None
    return child.default if child is not None and child.default is not NO_DEFAULT else None
