"""CEL types of structural schemas."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel import DeclType, schema_decl_type
from pyctrl.cel._declarations import REQUEST_BYTES


def _declared(schema: dict[str, Any], *, is_resource: bool = False) -> DeclType:
    found = schema_decl_type(schema, "self", is_resource=is_resource)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("schema", "type_", "max_elements"),
    [
        ({"type": "boolean"}, "bool", None),
        ({"type": "integer"}, "int", None),
        ({"type": "number"}, "double", None),
        ({"type": "string"}, "string", REQUEST_BYTES - 2),
        ({"type": "string", "maxLength": 3}, "string", 12),
        ({"type": "string", "enum": ["a", "bcd"]}, "string", 3),
        ({"type": "string", "format": "byte", "maxLength": 3}, "bytes", 3),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 5}, "list(int)", 5),
        ({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}, "map(string, int)", 2),
        ({"x-kubernetes-int-or-string": True}, "dyn", REQUEST_BYTES - 2),
        ({"x-kubernetes-int-or-string": True, "maxLength": 3}, "dyn", 12),
    ],
)
def test_types_and_sizes(schema: dict[str, Any], type_: str, max_elements: int | None) -> None:
    """The size is the schema's limit, in bytes for strings, or else what fits into a request."""
    found = _declared(schema)
    assert (str(found.type), found.max_elements) == (type_, max_elements)


def test_names_of_fields_are_escaped() -> None:
    """Properties that are no identifiers are escaped, reserved words also have their own name."""
    properties = {name: {"type": "string"} for name in ("a-b", "c.d", "e__f", "namespace", "\N{SNOWMAN}")}
    found = _declared({"type": "object", "properties": properties})
    escaped = ["__namespace__", "a__dash__b", "c__dot__d", "e__underscores__f"]
    assert sorted(found.fields) == escaped
    assert sorted(found.type.fields) == [*escaped, "namespace"]
    assert found.type.fields["a__dash__b"].key == "a-b"


def test_a_resource_always_has_its_metadata() -> None:
    """Expressions can access only name and generateName of metadata."""
    found = _declared({"type": "object"}, is_resource=True)
    assert sorted(found.fields) == ["apiVersion", "kind", "metadata"]
    assert sorted(found.fields["metadata"].fields) == ["generateName", "name"]


def test_a_limit_of_the_name_counts_only_with_all_fields_of_a_resource() -> None:
    """A schema of metadata replaces the standard one if it has all fields that expressions can access."""
    text = {"type": "string"}
    name = {"type": "string", "maxLength": 5}
    some = {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": name}}}}
    names = {"type": "object", "properties": {"name": name, "generateName": text}}
    all_of_them = {"type": "object", "properties": {"kind": text, "apiVersion": text, "metadata": names}}
    sizes = [
        _declared(each, is_resource=True).fields["metadata"].fields["name"].max_elements for each in (some, all_of_them)
    ]
    assert sizes == [REQUEST_BYTES - 2, 20]


def test_cardinality_follows_the_size_of_the_smallest_value() -> None:
    """Without limits, as many values are assumed as fit into a request."""
    assert _declared({"type": "boolean"}).max_cardinality == REQUEST_BYTES // 5
    required = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    assert _declared(required).max_cardinality == REQUEST_BYTES // (2 + 3 + 2 + 4 + 1)


def test_a_schema_without_a_type_has_none() -> None:
    """Expressions cannot access values of unknown type."""
    assert schema_decl_type({"x-kubernetes-preserve-unknown-fields": True}, "self") is None
