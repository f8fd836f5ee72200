"""Defaults of custom resources."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import GROUP, create, install, spec_schema, thing

NESTED = {
    "a": {"type": "object", "default": {}, "properties": {"x": {"type": "integer", "default": 7}}},
    "list": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "q"}}}},
    "map": {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": {"p": {"type": "string", "default": "q"}}},
    },
    "maybe": {"type": "string", "nullable": True, "default": "d"},
    "never": {"type": "string", "default": "set"},
}


def test_missing_fields_get_defaults_from_the_outside_in() -> None:
    """Defaults apply to fields of a default object and to items of lists and maps."""
    registry = ResourceRegistry()
    install(registry, spec_schema(NESTED))
    created, _ = create(registry, thing({"list": [{}, {"p": "1"}], "map": {"m": {}}}))
    assert created["spec"] == {
        "a": {"x": 7},
        "list": [{"p": "q"}, {"p": "1"}],
        "map": {"m": {"p": "q"}},
        "maybe": "d",
        "never": "set",
    }


def test_null_is_a_value_only_where_it_may_be() -> None:
    """A null of a nullable field is kept; another is replaced by the default."""
    registry = ResourceRegistry()
    install(registry, spec_schema(NESTED))
    created, _ = create(registry, thing({"maybe": None, "never": None}))
    assert created["spec"]["maybe"] is None
    assert created["spec"]["never"] == "set"


def test_a_null_item_becomes_the_default_of_the_items() -> None:
    """A null item of a list or value of a map is replaced by the default, and by the defaults inside it."""
    fields = {"k": {"type": "string"}, "n": {"type": "integer", "default": 1}}
    item = {"type": "object", "default": {"k": "d"}, "properties": fields}
    properties = {"list": {"type": "array", "items": item}, "map": {"type": "object", "additionalProperties": item}}
    registry = ResourceRegistry()
    install(registry, spec_schema(properties))
    created, _ = create(registry, thing({"list": [None, {}], "map": {"a": None, "b": {}}}))
    assert created["spec"] == {
        "list": [{"k": "d", "n": 1}, {"n": 1}],
        "map": {"a": {"k": "d", "n": 1}, "b": {"n": 1}},
    }


def test_defaults_are_copies() -> None:
    """Two objects do not share a default value."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"l": {"type": "array", "items": {"type": "string"}, "default": ["x"]}}))
    first, _ = create(registry, thing({}))
    first["spec"]["l"].append("y")
    second, _ = create(registry, thing({}))
    assert second["spec"]["l"] == ["x"]


def test_a_default_added_later_is_there_on_read() -> None:
    """An object that was stored before its schema had a default has the default when it is read."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"n": {"type": "integer", "default": 3}}))
    found = registry.find(GROUP, "v1", "things")
    assert found is not None
    assert found.on_read(thing({}))["spec"] == {"n": 3}
