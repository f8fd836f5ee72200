"""A schema as the server uses it: one `SchemaNode` per place, compiled once, walked by validation, pruning and patches.

Definitions bring a structural schema (compiled here); built-in kinds bring the components of the OpenAPI document
(compiled in `_components`). Both give the same nodes, so that list types, merge keys and field sets are told in one
way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pyctrl._go.regexp import CompiledPattern, PatternError, go_pattern

JSON: TypeAlias = Any  # a decoded JSON value; the one place where the server's objects are not typed

NO_DEFAULT: Final = object()

Reader: TypeAlias = (
    "Callable[[SchemaNode, JSON, list[str]], JSON]"  # takes a place, a value, and a list of unknown fields
)


@dataclass(slots=True, eq=False, kw_only=True)
class ValueValidations:
    """Value checks of one place; None means that the schema does not ask."""

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
    """What the OpenAPI document does not say about a built-in type, and its Go definition does."""

    struct: str = ""  # the name of the struct, as decoding errors print it
    name: str = ""  # the type as decoding errors print it: string, int32, v1.PodSpec
    scalar: str = ""  # quantity, time, microtime, bytes: text with a canonical form
    also: type | None = None  # JSON of this type is taken as it is
    drop_zero: bool = False  # a value, not a pointer: its zero is not written
    zeros: tuple[tuple[str, JSON], ...] = ()  # fields that are always written, and the zero written when absent
    structs: tuple[str, ...] = ()  # the same for fields that are structs: written as their own zero


@dataclass(slots=True, eq=False, kw_only=True)
class SchemaNode:
    """One place in a schema. Cyclic (a schema of schemas); never compare or print whole."""

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
    untyped: bool = False  # values of no declared type here or below
    keyed: bool = False  # a list that is a set or a map by keys, here or below
    read: Reader | None = None  # what reads values of a built-in type here, chosen by _typed

    def child(self, key: str) -> SchemaNode | None:
        """Give the node of a key of an object: its property, or what additional properties look like."""
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
    """Compile the structural schema of a definition's version, or any schema inside it."""
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
    """Any value at all, of which objects keep no fields: nobody has named any."""
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
        with suppress(PatternError):  # `_structural` refuses the definition
            found["pattern"] = go_pattern(schema["pattern"])
    return ValueValidations(**found) if found else None


def _branch(schema: Mapping[str, JSON], parent: Mapping[str, JSON]) -> SchemaNode:
    """A schema inside allOf/anyOf/oneOf/not: it may name fields the structural part has typed, and adds no fields."""
    node = compile_structural(schema)
    if node.nullable is False and parent.get("nullable"):
        node.nullable = True
    return node


def list_key(item: JSON, keys: Sequence[str], node: SchemaNode | None) -> tuple[JSON, ...] | None:
    """Give the values of a list item's keys (absent ones by their default), or None when the item has none of them."""
    if not isinstance(item, dict):
        return None
    values = tuple(item[key] if key in item else _default_key(node, key) for key in keys)
    return None if all(value is None for value in values) else values


def _default_key(node: SchemaNode | None, key: str) -> JSON:
    child = node.properties.get(key) if node else None
    return child.default if child is not None and child.default is not NO_DEFAULT else None
