"""Tests of schema nodes that are compiled from the structural schemas of definitions."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._schema.schema import NO_DEFAULT, compile_structural, list_key

PORTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "protocol"],
    "items": {
        "type": "object",
        "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
    },
}


def test_a_node_knows_what_is_below_it() -> None:
    """A node reports defaults and keyed lists at any depth, and nothing that its schema does not have."""
    node = compile_structural({"type": "object", "properties": {"ports": PORTS}})
    assert node.has_defaults
    assert node.keyed
    assert not node.rules
    assert node.default is NO_DEFAULT


def test_the_child_of_a_node_is_its_property_or_an_additional_one() -> None:
    """A key has the schema of its property, else that of the additional properties."""
    node = compile_structural({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}})
    named, other = node.child("a"), node.child("b")
    assert named is not None
    assert other is not None
    assert (named.type, other.type) == ("string", "integer")


def test_false_additional_properties_close_an_object() -> None:
    """An object without additional properties is closed, and a key that it does not have has no schema."""
    node = compile_structural({"type": "object", "additionalProperties": False})
    assert node.closed
    assert node.child("a") is None


def test_a_branch_is_nullable_like_its_parent() -> None:
    """A null that the parent allows is also allowed by the schemas in its anyOf."""
    node = compile_structural({"nullable": True, "anyOf": [{"minLength": 1}]})
    assert node.checks is not None
    assert [branch.nullable for branch in node.checks.any_of] == [True]


@pytest.mark.parametrize(
    ("item", "key"),
    [
        ({"port": 80, "protocol": "UDP"}, (80, "UDP")),
        ({"port": 80}, (80, "TCP")),
        ("text", None),
    ],
)
def test_the_key_of_a_list_item_has_the_defaults_of_absent_fields(item: Any, key: tuple[Any, ...] | None) -> None:
    """The key of a list item has the defaults of absent key fields; what is no object has no key."""
    assert list_key(item, ("port", "protocol"), compile_structural(PORTS).items) == key
