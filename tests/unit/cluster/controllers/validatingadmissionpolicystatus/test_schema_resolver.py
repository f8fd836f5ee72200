"""Schemas with all references resolved."""

from __future__ import annotations

from typing import Any

from pyctrl.cluster._controllers.validatingadmissionpolicystatus.schema_resolver import populate_refs

REFERENCE = "#/components/schemas/"


def _resolved(name: str, **schemas: dict[str, Any]) -> Any:
    return populate_refs(schemas.__getitem__, name)


def test_references_are_replaced() -> None:
    """Properties, items and values of maps have the schema that they refer to, also within `allOf`."""
    text = {"type": "string"}
    found = _resolved(
        "root",
        root={
            "type": "object",
            "properties": {
                "direct": {"$ref": f"{REFERENCE}text"},
                "described": {"allOf": [{"$ref": f"{REFERENCE}text"}], "description": "A name."},
                "list": {"type": "array", "items": {"$ref": f"{REFERENCE}text"}},
                "map": {"type": "object", "additionalProperties": {"$ref": f"{REFERENCE}text"}},
            },
        },
        text=text,
    )["properties"]
    assert found["direct"] == found["described"] == found["list"]["items"] == found["map"]["additionalProperties"]
    assert found["direct"] == text


def test_a_schema_that_contains_itself_ends() -> None:
    """The inner reference becomes an object without fields; a second reference beside it is resolved."""
    node = {"type": "object", "properties": {"next": {"$ref": f"{REFERENCE}node"}, "leaf": {"$ref": f"{REFERENCE}x"}}}
    found = _resolved("node", node=node, x={"type": "integer"})
    assert found["properties"] == {"next": {"type": "object"}, "leaf": {"type": "integer"}}


def test_a_number_or_text_is_marked() -> None:
    """Built-in kinds declare such fields by format, definitions by an extension; the result has the extension."""
    found = _resolved("root", root={"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
    assert found["x-kubernetes-int-or-string"] is True
