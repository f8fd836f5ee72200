"""Changes of single fields, directed by a schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.simulation._field_changes import changed_objects

Json = dict[str, Any]


def anything(_: Json) -> bool:
    """Accept every object."""
    return True


def values(field: Json, value: Any, is_valid: Callable[[Any], bool] = lambda _: True) -> list[Any]:
    """Return the values that a required field of a spec gets; "" means that it is removed."""
    schema = {"properties": {"spec": {"type": "object", "required": ["x"], "properties": {"x": field}}}}
    found = changed_objects({"spec": {"x": value}}, schema, lambda obj: is_valid(obj["spec"]["x"]), most=20)
    return [obj["spec"]["x"] for obj in found]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ({"type": "integer"}, 3, [4, 2]),
        ({"type": "integer", "multipleOf": 5}, 10, [15, 5]),
        ({"type": "boolean"}, False, [True]),
        ({"type": "string", "enum": ["a", "b", "c", "d"]}, "b", ["a", "c"]),
        ({"type": "string"}, "nginx:1.29", ["nginx:1.30"]),
        ({"type": "string"}, "web", ["web-2"]),
        ({"type": "string"}, "www.example.com", ["www-2.example.com"]),
        ({"type": "string"}, "2030-01-09", ["2030-01-10"]),
        ({"type": "array", "items": {"type": "string"}}, ["a"], [["a", "a-2"], []]),
        ({"type": "array", "items": {"type": "integer"}}, [], [[1]]),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"a": "1"},
            [{"a": "2"}, {"a": "1", "added": "added"}],
        ),
        ({"x-kubernetes-int-or-string": True}, "10%", ["11%"]),
        ({"x-kubernetes-int-or-string": True}, 1, [2, 0]),
    ],
)
def test_types(field: Json, value: Any, expected: list[Any]) -> None:
    """Each type has its own changes."""
    assert values(field, value) == expected


def test_only_valid_values() -> None:
    """Of a text the first valid form is taken; a number that is not valid is left out."""
    assert values({"type": "string"}, "9", lambda text: text < "9" and text != "10") == ["8"]
    assert values({"type": "string"}, "abc", lambda text: re.fullmatch("[a-z]+", text) is not None) == ["abcx"]
    assert values({"type": "string"}, "abc", lambda text: text == "abc") == []
    assert values({"type": "integer"}, 3, lambda number: number <= 3) == [2]


def test_optional_fields() -> None:
    """A field that is set is changed, and at last removed; one that is not set is set, differently from its default."""
    fields = {
        "size": {"type": "integer"},
        "paused": {"type": "boolean", "default": False},
        "readers": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "keep": {"type": "integer", "default": 3},
    }
    schema = {"properties": {"spec": {"type": "object", "properties": fields}, "status": {"type": "object"}}}
    found = changed_objects({"spec": {"size": 3}}, schema, anything, most=20)
    assert [obj["spec"] for obj in found] == [
        {"size": 4},
        {"size": 2},
        {"size": 3, "paused": True},
        {"size": 3, "readers": ["sample"]},
        {"size": 3, "labels": {"added": "sample"}},
        {"size": 3, "keep": 4},
        {},
    ]
    assert len(changed_objects({"spec": {"size": 3}}, schema, anything, most=2)) == 2


def test_nested() -> None:
    """Nested fields are changed, but not removed; of a pod's template only the images are changed."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}
    found = changed_objects({"spec": {"server": {"port": 80}, "template": {"spec": pod}}}, {}, anything, most=20)
    changed = {str(obj["spec"]) for obj in found}
    assert str({"server": {"port": 81}, "template": {"spec": pod}}) in changed
    assert str({"server": {}, "template": {"spec": pod}}) not in changed
    assert sum("a:2" in each for each in changed) == 1
    assert not any("Never-2" in each or "main-2" in each for each in changed)


def test_unique_items() -> None:
    """A new item of a list differs from the last one in all of its texts."""
    assert values({"type": "array", "items": {"type": "object"}}, [{"name": "a", "port": 1}])[0] == [
        {"name": "a", "port": 1},
        {"name": "a-2", "port": 1},
    ]


def test_without_spec() -> None:
    """Objects without a spec, such as ConfigMaps, have their fields changed; metadata and status are left alone."""
    obj = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "value"}, "status": {"ready": True}}
    found = changed_objects(obj, {}, anything, most=20)
    assert [each["data"] for each in found] == [{"key": "value-2"}, {"key": "value", "added": "added"}, {}]


def test_absent_spec() -> None:
    """Fields of a spec that the object does not have are set."""
    schema = {"properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    assert changed_objects({"kind": "Web"}, schema, anything, most=20) == [{"kind": "Web", "spec": {"size": 1}}]
