"""Comparison of two CRDs: which changes break stored objects."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.manifests import compare_definition_sets, compare_definitions, has_breaking_changes

Schema = dict[str, Any]
Edit = Callable[[Schema], object]


def definition(schema: Schema, **spec: Any) -> dict[str, Any]:
    """Return a CRD of Widgets with one version, whose spec has a schema."""
    root = {"type": "object", "properties": {"spec": schema, "status": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"kind": "Widget", "plural": "widgets", "shortNames": ["wd"]}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version], **spec},
    }


def of(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ITEMS = {"type": "array", "items": {**of(name=TEXT, port=NUMBER), "required": ["name"]}}
KEYED = {**ITEMS, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
RULE = {"rule": "self.a > 1", "message": "too small"}
FROZEN = {"rule": "self == oldSelf"}

# the schema of spec before, the one after, and the reported change: effect, code, path
SCHEMAS: dict[str, tuple[Schema, Schema, tuple[str, str, str] | None]] = {
    "nothing": (of(a=TEXT), of(a=TEXT), None),
    "field removed": (of(a=TEXT, b=TEXT), of(a=TEXT), ("breaking", "field-removed", "spec.b")),
    "field removed deep down": (
        of(a={"type": "array", "items": of(x=TEXT, y=TEXT)}),
        of(a={"type": "array", "items": of(x=TEXT)}),
        ("breaking", "field-removed", "spec.a[].y"),
    ),
    "field removed where all is kept": (
        {**OPEN, "properties": {"a": TEXT}},
        OPEN,
        ("harmless", "type-widened", "spec.a"),
    ),
    "field described": (OPEN, {**OPEN, "properties": {"a": TEXT}}, ("breaking", "type-changed", "spec.a")),
    "field added": (of(a=TEXT), of(a=TEXT, b=TEXT), ("harmless", "field-added", "spec.b")),
    "field added with default": (of(), of(b={**TEXT, "default": "x"}), ("risky", "default-added", "spec.b")),
    "type changed": (of(a=TEXT), of(a=NUMBER), ("breaking", "type-changed", "spec.a")),
    "integer to number": (of(a=NUMBER), of(a={"type": "number"}), ("harmless", "type-widened", "spec.a")),
    "number to integer": (of(a={"type": "number"}), of(a=NUMBER), ("breaking", "type-changed", "spec.a")),
    "integer to int-or-string": (of(a=NUMBER), of(a=EITHER), ("harmless", "type-widened", "spec.a")),
    "int-or-string to text": (of(a=EITHER), of(a=TEXT), ("breaking", "type-changed", "spec.a")),
    "newly required": (of(a=TEXT), {**of(a=TEXT), "required": ["a"]}, ("breaking", "required", "spec.a")),
    "newly required with default": (
        of(a={**TEXT, "default": "x"}),
        {**of(a={**TEXT, "default": "x"}), "required": ["a"]},
        ("harmless", "required", "spec.a"),
    ),
    "optional now": ({**of(a=TEXT), "required": ["a"]}, of(a=TEXT), ("harmless", "optional", "spec.a")),
    "null refused": (of(a={**TEXT, "nullable": True}), of(a=TEXT), ("breaking", "null-refused", "spec.a")),
    "null allowed": (of(a=TEXT), of(a={**TEXT, "nullable": True}), ("harmless", "type-widened", "spec.a")),
    "enum": (of(a=TEXT), of(a={**TEXT, "enum": ["x"]}), ("breaking", "enum-narrowed", "spec.a")),
    "enum without one": (
        of(a={**TEXT, "enum": ["x", "y"]}),
        of(a={**TEXT, "enum": ["x"]}),
        ("breaking", "enum-narrowed", "spec.a"),
    ),
    "enum with one more": (
        of(a={**TEXT, "enum": ["x"]}),
        of(a={**TEXT, "enum": ["y", "x"]}),
        ("harmless", "enum-widened", "spec.a"),
    ),
    "enum gone": (of(a={**TEXT, "enum": ["x"]}), of(a=TEXT), ("harmless", "enum-widened", "spec.a")),
    "greater minimum": (
        of(a={**NUMBER, "minimum": 1}),
        of(a={**NUMBER, "minimum": 2}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "smaller minimum": (
        of(a={**NUMBER, "minimum": 1}),
        of(a={**NUMBER, "minimum": 0}),
        ("harmless", "bounds-widened", "spec.a"),
    ),
    "minimum itself excluded": (
        of(a={**NUMBER, "minimum": 1}),
        of(a={**NUMBER, "minimum": 1, "exclusiveMinimum": True}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "smaller maximum": (
        of(a={**TEXT, "maxLength": 9}),
        of(a={**TEXT, "maxLength": 8}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "a maximum": (of(a=ITEMS), of(a={**ITEMS, "maxItems": 8}), ("breaking", "bounds-narrowed", "spec.a")),
    "finer multiple": (
        of(a={**NUMBER, "multipleOf": 4}),
        of(a={**NUMBER, "multipleOf": 2}),
        ("harmless", "bounds-widened", "spec.a"),
    ),
    "finer multiple, of which a whole number has no fraction": (
        of(a={"type": "number", "multipleOf": 5}),
        of(a={"type": "number", "multipleOf": 2.5}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "wider range, of which a whole number has no fraction": (
        of(a={"type": "number", "minimum": 0.7}),
        of(a={"type": "number", "minimum": 0.5, "exclusiveMinimum": True}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "coarser multiple": (
        of(a={**NUMBER, "multipleOf": 2}),
        of(a={**NUMBER, "multipleOf": 4}),
        ("breaking", "bounds-narrowed", "spec.a"),
    ),
    "pattern": (of(a=TEXT), of(a={**TEXT, "pattern": "^a"}), ("breaking", "pattern-changed", "spec.a")),
    "no pattern": (of(a={**TEXT, "pattern": "^a"}), of(a=TEXT), ("harmless", "pattern-removed", "spec.a")),
    "int32": (of(a=NUMBER), of(a={**NUMBER, "format": "int32"}), ("breaking", "format-changed", "spec.a")),
    "int64": (of(a=NUMBER), of(a={**NUMBER, "format": "int64"}), ("harmless", "format-changed", "spec.a")),
    "a map of items": (of(a=ITEMS), of(a=KEYED), ("breaking", "list-type-changed", "spec.a")),
    "other keys": (
        of(a=KEYED),
        of(a={**KEYED, "x-kubernetes-list-map-keys": ["name", "port"]}),
        ("breaking", "list-type-changed", "spec.a"),
    ),
    "no map of items": (of(a=KEYED), of(a=ITEMS), ("breaking", "list-type-changed", "spec.a")),
    "atomic object": (of(), {**of(), "x-kubernetes-map-type": "atomic"}, ("risky", "map-type-changed", "spec")),
    "rule": (of(a=NUMBER), {**of(a=NUMBER), "x-kubernetes-validations": [RULE]}, ("breaking", "rule-added", "spec")),
    "rule of transitions": (of(), {**of(), "x-kubernetes-validations": [FROZEN]}, ("risky", "rule-added", "spec")),
    "no rule": (
        {**of(a=NUMBER), "x-kubernetes-validations": [RULE]},
        of(a=NUMBER),
        ("harmless", "rule-removed", "spec"),
    ),
    "other words": (
        {**of(a=NUMBER), "x-kubernetes-validations": [RULE]},
        {**of(a=NUMBER), "x-kubernetes-validations": [{**RULE, "message": "no"}]},
        ("harmless", "rule-described", "spec"),
    ),
    "alternatives": (
        of(a=TEXT, b=TEXT),
        {**of(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ("breaking", "alternatives-changed", "spec"),
    ),
    "no unknown fields": (OPEN, {"type": "object"}, ("breaking", "keys-dropped", "spec.*")),
    "unknown fields": ({"type": "object"}, OPEN, ("harmless", "keys-opened", "spec.*")),
    "values of a map": (
        of(a={"type": "object", "additionalProperties": TEXT}),
        of(a={"type": "object", "additionalProperties": NUMBER}),
        ("breaking", "type-changed", "spec.a.*"),
    ),
    "default": (of(a=TEXT), of(a={**TEXT, "default": "x"}), ("risky", "default-added", "spec.a")),
    "other default": (
        of(a={**TEXT, "default": "y"}),
        of(a={**TEXT, "default": "x"}),
        ("risky", "default-changed", "spec.a"),
    ),
    "whole object": (
        of(a=OPEN),
        of(a={**OPEN, "x-kubernetes-embedded-resource": True}),
        ("breaking", "embedded-changed", "spec.a"),
    ),
    "description": (of(a=TEXT), of(a={**TEXT, "description": "A."}), ("harmless", "described", "spec.a")),
}


@pytest.mark.parametrize(("old", "new", "told"), SCHEMAS.values(), ids=SCHEMAS)
def test_a_change_of_a_schema(old: Schema, new: Schema, told: tuple[str, str, str] | None) -> None:
    """Each change is reported once, with its effect, a code and the path of the field."""
    changes = compare_definitions(definition(old), definition(new))

    assert [(each.effect, each.code, each.path) for each in changes] == ([told] if told else [])
    assert all(each.version == "v1" for each in changes)
    assert has_breaking_changes(changes) == (told is not None and told[0] == "breaking")


def test_a_required_field_that_lost_its_default() -> None:
    """A required field without its former default is reported as breaking, and the lost default as risky."""
    old, new = ({**of(a={**TEXT, **more}), "required": ["a"]} for more in ({"default": "x"}, {}))

    assert [(each.effect, each.code) for each in compare_definitions(definition(old), definition(new))] == [
        ("breaking", "required"),
        ("risky", "default-removed"),
    ]


def _version(name: str, **more: Any) -> Edit:
    """Add a copy of the first version under another name."""

    def add(spec: Schema) -> None:
        spec["versions"].append({**copy.deepcopy(spec["versions"][0]), "name": name, "storage": False, **more})

    return add


def _stores(index: int) -> Edit:
    def store(spec: Schema) -> None:
        for number, version in enumerate(spec["versions"]):
            version["storage"] = number == index

    return store


STATUS: dict[str, Any] = {"status": {}}

# the edit of the CRD before, the edit after, and the reported change
DEFINITIONS: dict[str, tuple[list[Edit], list[Edit], tuple[str, str, str]]] = {
    "scope": ([], [lambda s: s.update(scope="Cluster")], ("breaking", "scope-changed", "spec.scope")),
    "group": ([], [lambda s: s.update(group="example.org")], ("breaking", "group-changed", "spec.group")),
    "kind": (
        [lambda s: s["names"].update(listKind="WidgetList", singular="widget")],
        [lambda s: s["names"].update(listKind="WidgetList", singular="widget", kind="Gadget")],
        ("breaking", "kind-changed", "spec.names.kind"),
    ),
    "plural": (
        [],
        [lambda s: s["names"].update(plural="widgetry")],
        ("breaking", "plural-changed", "spec.names.plural"),
    ),
    "short name gone": (
        [],
        [lambda s: s["names"].pop("shortNames")],
        ("risky", "names-changed", "spec.names.shortNames"),
    ),
    "category": (
        [],
        [lambda s: s["names"].update(categories=["all"])],
        ("harmless", "names-changed", "spec.names.categories"),
    ),
    "version added": ([], [_version("v2")], ("harmless", "version-added", "spec.versions")),
    "served version removed": ([_version("v2")], [], ("breaking", "version-removed", "spec.versions")),
    "version nobody had removed": (
        [_version("v2", served=False)],
        [],
        ("harmless", "version-removed", "spec.versions"),
    ),
    "version not served": (
        [_version("v2")],
        [_version("v2", served=False)],
        ("breaking", "version-unserved", "served"),
    ),
    "version deprecated": (
        [],
        [lambda s: s["versions"][0].update(deprecated=True)],
        ("harmless", "version-deprecated", "deprecated"),
    ),
    "other storage": ([_version("v2")], [_version("v2"), _stores(1)], ("risky", "storage-changed", "spec.versions")),
    "status by itself": (
        [],
        [lambda s: s["versions"][0].update(subresources=STATUS)],
        ("risky", "subresource-added", "subresources.status"),
    ),
    "no status by itself": (
        [lambda s: s["versions"][0].update(subresources=STATUS)],
        [],
        ("breaking", "subresource-removed", "subresources.status"),
    ),
    "selectable field gone": (
        [lambda s: s["versions"][0].update(selectableFields=[{"jsonPath": ".spec.a"}])],
        [],
        ("breaking", "selectable-removed", "selectableFields"),
    ),
    "columns": (
        [],
        [lambda s: s["versions"][0].update(additionalPrinterColumns=[{"name": "A"}])],
        ("harmless", "columns-changed", "additionalPrinterColumns"),
    ),
    "conversion": (
        [],
        [lambda s: s.update(conversion={"strategy": "Webhook"})],
        ("risky", "conversion-changed", "spec.conversion.strategy"),
    ),
    "unknown fields everywhere": (
        [lambda s: s.update(preserveUnknownFields=True)],
        [lambda s: s.update(preserveUnknownFields=False)],
        ("breaking", "keys-dropped", "*"),
    ),
}


@pytest.mark.parametrize(("before", "after", "told"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_change_of_a_definition(before: list[Edit], after: list[Edit], told: tuple[str, str, str]) -> None:
    """Changes of names, versions, sub-resources and conversion are reported with their effects."""
    old, new = definition(of(a=TEXT)), definition(of(a=TEXT))
    for made, edits in ((old, before), (new, after)):
        made["spec"] = copy.deepcopy(made["spec"])
        for edit in edits:
            edit(made["spec"])

    assert [(each.effect, each.code, each.path) for each in compare_definitions(old, new)] == [told]


def test_a_stored_version_that_is_gone() -> None:
    """Removing a version with stored objects is breaking, even if the version was not served."""
    old, new = definition(of()), definition(of())
    _version("v2", served=False)(old["spec"])
    old["status"] = {"storedVersions": ["v1", "v2"]}

    (change,) = compare_definitions(old, new)

    assert (change.effect, change.code, change.version) == ("breaking", "version-removed", "v2")
    assert "until they are migrated" in change.message


def test_what_the_new_storage_version_does_not_know() -> None:
    """Without conversion, fields of the old storage version that the new one lacks are reported as lost."""
    old, new = definition(of(a=TEXT, b=TEXT)), definition(of(a=TEXT, b=TEXT))
    for made in (old, new):
        narrower = definition(of(a=TEXT))["spec"]["versions"][0]["schema"]
        _version("v2", schema=narrower)(made["spec"])
    _stores(1)(new["spec"])

    lost, told = compare_definitions(old, new)

    assert (lost.effect, lost.version, lost.path) == ("breaking", "v1 → v2", "spec.b")
    assert told.code == "storage-changed"


def test_folders_of_definitions() -> None:
    """CRDs are compared by name; a removed one is breaking, a new one harmless."""
    gone, stays, come = (definition(of()) for _ in range(3))
    gone["metadata"]["name"], come["metadata"]["name"] = "old.example.com", "new.example.com"

    found = compare_definition_sets([gone, stays], [stays, come])

    assert {name: [each.effect for each in changes] for name, changes in found.items()} == {
        "new.example.com": ["harmless"],
        "old.example.com": ["breaking"],
        "widgets.example.com": [],
    }


def test_one_definition_under_another_name() -> None:
    """Two single CRDs with different names are compared with each other."""
    other = definition(of())
    other["spec"] = {**other["spec"], "group": "example.org"}
    other["metadata"] = {"name": "widgets.example.org"}

    (changes,) = compare_definition_sets([definition(of())], [other]).values()

    assert [each.code for each in changes] == ["group-changed"]


def test_what_breaks_comes_first() -> None:
    """Breaking changes come first, then risky, then harmless ones."""
    new = of(c=TEXT, d={**TEXT, "default": "x"})

    assert [each.effect for each in compare_definitions(definition(of(a=TEXT)), definition(new))] == [
        "breaking",
        "risky",
        "harmless",
    ]
