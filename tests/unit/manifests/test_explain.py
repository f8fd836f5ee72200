"""Explanations of a field from its schema."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.manifests import ExplainedField, NoSuchField, Schemas

PART = {
    "type": "object",
    "description": "A part.",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "sub": {"$ref": "#/components/schemas/v1.Part"}},
}
SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "colour": {"type": "string", "enum": ["red", "a b"], "default": "red"},
        "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9, "exclusiveMaximum": True},
        "name": {"type": "string", "minLength": 1, "maxLength": 8, "pattern": "^a", "format": "hostname"},
        "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 3}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "parts": {
            "type": "array",
            "maxItems": 1,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"$ref": "#/components/schemas/v1.Part"},
        },
        "part": {"allOf": [{"$ref": "#/components/schemas/v1.Part"}], "default": {}, "description": "The one."},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "nullable": True},
        "checked": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "oneOf": [{"required": ["a"]}],
            "x-kubernetes-validations": [{"rule": "has(self.a)\n  || true", "message": "a is needed"}],
        },
    },
}
KIND = {"group": "example.com", "version": "v1", "kind": "Widget"}
ROOT = {
    "type": "object",
    "x-kubernetes-group-version-kind": [KIND],
    "properties": {"apiVersion": {"type": "string"}, "metadata": {"type": "object"}, "spec": SPEC},
}
SCHEMAS = Schemas({"v1.Widget": ROOT, "v1.Part": PART})


def explained(path: str) -> ExplainedField:
    root = SCHEMAS.kind(**KIND)
    assert root is not None
    return SCHEMAS.find(root, path.split("."), name="widget")


@pytest.mark.parametrize(
    ("path", "type_", "rules"),
    [
        ("spec.colour", "string", ("default: red", "one of red, a b")),
        ("spec.size", "integer", ("at least 1, less than 9",)),
        ("spec.name", "string", ("format hostname", "at least 1 character, at most 8 characters", "matches ^a")),
        ("spec.port", "integer or string", ()),
        ("spec.tags", "[]string", ("each: at most 3 characters", "a set: items are unique")),
        ("spec.labels", "map[string]string", ()),
        ("spec.parts", "[]Part", ("at most 1 item", "items are identified by name")),
        ("spec.part", "Part", ()),
        ("spec.free", "Object", ("may be null", "keeps unknown fields")),
        (
            "spec.checked",
            "Object",
            ('oneOf: [{"required": ["a"]}]', "rule: has(self.a) || true -- a is needed"),
        ),
    ],
)
def test_what_values_must_be(path: str, type_: str, rules: tuple[str, ...]) -> None:
    """The explanation has the type in a word and a line per bound, rule and default."""
    found = explained(path)

    assert (found.type, found.rules) == (type_, rules)


def test_a_path_goes_through_lists_and_references() -> None:
    """A path has only field names, also through lists and references; a field's description precedes its type's."""
    assert explained("spec.parts.sub.sub.name").is_required
    assert (explained("spec.part").description, explained("spec.parts.sub").description) == ("The one.", "A part.")


def test_the_fields_of_an_object() -> None:
    """Required fields come first; the fields of a complete object keep their order."""
    assert [each.name for each in SCHEMAS.fields(SPEC)][:3] == ["size", "colour", "name"]
    assert [each.name for each in SCHEMAS.fields(ROOT)] == ["apiVersion", "metadata", "spec"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("spec.sise", "widget.spec has no field 'sise'; did you mean size?"),
        ("spec.Size", "widget.spec has no field 'Size'; did you mean size?"),
        ("status", "widget has no field 'status'; it has apiVersion, metadata, spec"),
        (
            "spec.zzz",
            "widget.spec has no field 'zzz'; it has colour, size, name, port, tags, labels, parts",
        ),
        ("spec.size.x", "widget.spec.size has no fields: there is no widget.spec.size.x"),
        ("spec.free.x", "widget.spec.free accepts any fields and describes none"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, why: str) -> None:
    """An unknown path is answered with a similar one or with the available fields."""
    with pytest.raises(NoSuchField) as refused:
        explained(path)

    assert str(refused.value).startswith(why)
