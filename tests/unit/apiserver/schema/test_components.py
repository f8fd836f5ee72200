"""Tests of schema nodes that are compiled from the components of OpenAPI documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver._schema.components import OpenAPIComponents

PART = "com.example.v1.Part"
DOCUMENT: dict[str, Any] = {
    "schemas": {
        "com.example.v1.Thing": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "format": "int32"},
                "created": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}]},
                "parts": {
                    "type": "array",
                    "items": {"$ref": f"#/components/schemas/{PART}"},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "x-kubernetes-patch-strategy": "merge",
                    "x-kubernetes-patch-merge-key": "name",
                },
            },
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
        },
        PART: {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "parent": {"$ref": f"#/components/schemas/{PART}"},
            },
        },
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
    }
}


def test_a_document_is_loaded_once_at_first_use() -> None:
    """A document is read when one of its kinds is first needed, and only once."""
    loaded: list[str] = []

    def load(name: str) -> Mapping[str, Any]:
        loaded.append(name)
        return DOCUMENT

    components = OpenAPIComponents(load)
    assert loaded == []
    first = components.kind("doc", "example.com", "v1", "Thing")
    assert first is not None
    assert components.kind("doc", "example.com", "v1", "Thing") is first
    assert loaded == ["doc"]


def test_a_kind_that_the_document_lacks_has_no_node() -> None:
    """A kind is found by its group, version and kind, and one that the document lacks is not found."""
    components = OpenAPIComponents(lambda _name: DOCUMENT)
    assert components.component_of("doc", "example.com", "v1", "Thing") == "com.example.v1.Thing"
    assert components.kind("doc", "example.com", "v2", "Thing") is None


def test_fields_have_the_merge_rules_and_go_types_of_the_document() -> None:
    """A field has the list type, the keys and the patch strategy of the document, and its type in Go."""
    node = OpenAPIComponents(lambda _name: DOCUMENT).node("doc", "com.example.v1.Thing")
    parts, size, created = (node.properties[name] for name in ("parts", "size", "created"))
    assert (parts.list_type, parts.map_keys, parts.merge, parts.merge_key) == ("map", ("name",), True, "name")
    assert [each.go.name if each.go else "" for each in (parts, size, created)] == ["[]v1.Part", "int32", "v1.Time"]


def test_a_component_may_refer_to_itself() -> None:
    """A component that refers to itself is compiled to one node, which is its own descendant."""
    node = OpenAPIComponents(lambda _name: DOCUMENT).node("doc", PART)
    assert node.properties["parent"] is node
