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
