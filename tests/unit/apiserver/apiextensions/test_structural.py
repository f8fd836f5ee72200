"""Validation of structural schemas."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, definition, install, spec_schema, thing

ROOT = "spec.validation.openAPIV3Schema"


OBJECT = {"type": "object"}


KEYED = {"type": "object", "properties": {"k": {"type": "string"}}}


def _refused(obj: dict[str, Any], registry: ResourceRegistry | None = None) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(registry or ResourceRegistry(), obj)
    assert refused.value.code == 422
    return complaints(refused.value)


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"properties": {"spec": OBJECT}}, f"{ROOT}.type: Required value: must not be empty at the root"),
        (
            {"type": "object", "properties": {"spec": {"properties": {}}}},
            f"{ROOT}.properties[spec].type: Required value: must not be empty for specified object fields",
        ),
        (
            {"type": "object", "properties": {"x": {"$ref": "#/y"}}},
            f"{ROOT}.properties[x].$ref: Forbidden: $ref is not supported",
        ),
        (
            {"type": "object", "properties": {"x": {"type": "array"}}},
            f"{ROOT}.properties[x].items: Required value: must be specified",
        ),
        (
            {"type": "object", "properties": {"x": {"type": "string", "default": 5}}},
            f'{ROOT}.properties[x].default: Invalid value: "integer":  in body must be of type string: "integer"',
        ),
        (
            {"type": "object", "properties": {"x": {**KEYED, "required": ["k"], "default": {}}}},
            f"{ROOT}.properties[x].default.k: Required value",
        ),
        (
            {
                "type": "object",
                "properties": {"x": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
            },
            (
                f"{ROOT}.properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
                "runtime complexity becomes quadratic"
            ),
        ),
        (
            {
                "type": "object",
                "properties": {
                    "x": {
                        "type": "array",
                        "items": KEYED,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                    }
                },
            },
            (
                f"{ROOT}.properties[x].items.properties[k].default: Required value: this property is in "
                "x-kubernetes-list-map-keys, so it must have a default or be a required property"
            ),
        ),
        (
            {"type": "object", "properties": {"x": {"type": "string", "anyOf": [{"type": "string"}]}}},
            f"{ROOT}.properties[x].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": OBJECT}}}},
            (
                f"{ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
                "but metadata is implicitly specified"
            ),
        ),
    ],
)
def test_a_schema_that_is_not_structural_is_refused(schema: dict[str, Any], complaint: str) -> None:
    """The error of a schema that is not structural has the rule and the path."""
    assert _refused(definition(schema)) == [complaint]


def test_int_or_string_may_say_so_in_any_of() -> None:
    """The usual anyOf next to x-kubernetes-int-or-string is valid."""
    port = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    created, _ = create(ResourceRegistry(), definition(spec_schema({"port": port})))
    assert created["status"]["storedVersions"] == ["v1"]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^[0-9a-zA-Z-.]+$", "a-b.9", "a_b"),  # of prometheus-operator: a hyphen after a range is literal
        ("^(a+)+$", "a" * 30, "a" * 100_000 + "!"),  # a backtracking engine would not end
        (r"^\p{Greek}+$", "\N{GREEK SMALL LETTER LAMDA}", "l"),
    ],
)
def test_patterns_are_those_of_go(pattern: str, good: str, bad: str) -> None:
    """Patterns in Go's grammar are accepted and matched in linear time."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"x": {"type": "string", "pattern": pattern}}))
    create(registry, thing({"x": good}))
    assert f"should match '{pattern}'" in "".join(_refused(thing({"x": bad}), registry))


@pytest.mark.parametrize("pattern", [r"\C", r"[\b]", "(a{100}){100}", r"\p{Foo}"])
def test_patterns_that_go_refuses_are_refused(pattern: str) -> None:
    """Errors of the regex engine are errors of the definition, not of the server."""
    (told,) = _refused(definition(spec_schema({"x": {"type": "string", "pattern": pattern}})))
    assert "must be a valid regular expression, but isn't: error parsing regexp: invalid " in told
