"""CustomResourceDefinitions: validation, defaults, conditions."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._apiextensions.definitions import accept_names, condition, is_established, mark_terminating
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import GROUP, complaints, create, definition, install, spec_schema, thing, update

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


def test_validation_rules_are_refused_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, a schema with rules is rejected with the package to install."""
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)  # as if it were not installed
    rules = {"x": {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}}
    (told,) = _refused(definition(spec_schema(rules)))
    assert told.startswith(f"{ROOT}.properties[spec].properties[x].x-kubernetes-validations: Forbidden: ")
    assert "pip install 'pyctrl-runtime[cel]'" in told


def test_int_or_string_may_say_so_in_any_of() -> None:
    """The usual anyOf next to x-kubernetes-int-or-string is valid."""
    port = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    created, _ = create(ResourceRegistry(), definition(spec_schema({"port": port})))
    assert created["status"]["storedVersions"] == ["v1"]


def test_the_name_is_plural_and_group() -> None:
    """A definition is named after its resource and group."""
    obj = definition(OBJECT)
    obj["metadata"]["name"] = "wrong.name"
    told = 'metadata.name: Invalid value: "wrong.name": must be spec.names.plural+"."+spec.group'
    assert _refused(obj) == [told]


def test_one_version_is_stored() -> None:
    """A definition without a storage version is rejected, with errors for versions and status."""
    told = _refused(definition(OBJECT, storage=False))
    assert told[0].endswith("must have exactly one version marked as storage version")
    assert told[1] == "status.storedVersions: Invalid value: null: must have at least one stored version"


def test_names_and_conversion_are_filled_in() -> None:
    """Singular and list kind default from the kind, conversion to None; the status is empty."""
    created, _ = create(ResourceRegistry(), definition(OBJECT))
    assert created["spec"]["names"] == {
        "plural": "things",
        "singular": "thing",
        "kind": "Thing",
        "listKind": "ThingList",
    }
    assert created["spec"]["conversion"] == {"strategy": "None"}
    assert created["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }


def test_a_new_definition_is_accepted_and_established() -> None:
    """Names without a conflict are accepted and the definition established; a second run changes nothing."""
    registry = ResourceRegistry()
    created, _ = create(registry, definition(OBJECT))
    accepted = accept_names(created, registry)
    assert accepted is not None
    assert [each["type"] for each in accepted["status"]["conditions"]] == ["NamesAccepted", "Established"]
    assert accepted["status"]["acceptedNames"] == accepted["spec"]["names"]
    registry.install(accepted)
    assert accept_names(accepted, registry) is None
    assert registry.find(GROUP, "v1", "things") is not None
    registry.remove(accepted["metadata"]["name"])
    assert registry.find(GROUP, "v1", "things") is None
    assert GROUP not in registry.group_versions


def test_names_that_are_taken_are_not_accepted() -> None:
    """A definition with a kind that exists in the group is not established; the condition has the name."""
    registry = ResourceRegistry()
    first, _ = create(registry, definition(OBJECT))
    registry.install(first)
    second, _ = create(registry, definition(OBJECT, plural="others"))
    judged = accept_names(second, registry)
    assert judged is not None
    assert not is_established(judged)
    names = condition(judged, "NamesAccepted")
    assert (names["status"], names["reason"], names["message"]) == (
        "False",
        "ListKindConflict",
        '"ThingList" is already in use',
    )


def test_a_definition_that_goes_waits_for_its_objects() -> None:
    """A deleted definition has a condition and a finalizer until its objects are deleted."""
    created, _ = create(ResourceRegistry(), definition(OBJECT))
    mark_terminating(created)
    assert created["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert condition(created, "Terminating")["reason"] == "InstanceDeletionPending"


def test_a_new_storage_version_is_remembered_beside_the_old() -> None:
    """Former storage versions stay in storedVersions: objects may be stored in them."""
    registry = ResourceRegistry()
    old, _ = create(registry, definition(OBJECT))
    new = definition(OBJECT)
    new["spec"]["versions"][0]["storage"] = False
    second = {"name": "v2", "served": True, "storage": True, "schema": {"openAPIV3Schema": OBJECT}}
    new["spec"]["versions"].append(second)
    assert update(registry, new, old)["status"]["storedVersions"] == ["v1", "v2"]


def test_status_and_generation_of_custom_resources() -> None:
    """With the status sub-resource, the main endpoint keeps the status and the status endpoint the spec."""
    registry = ResourceRegistry()
    schema = {"type": "object", "properties": {"spec": KEYED, "status": KEYED}}
    registry.install(create(registry, definition(schema, subresources={"status": {}}))[0])
    obj = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {"k": "1"},
        "status": {"k": "x"},
    }
    created, _ = create(registry, obj)
    assert "status" not in created
    assert created["metadata"]["generation"] == 1
    through_status = update(
        registry, {**created, "spec": {"k": "2"}, "status": {"k": "y"}}, created, subresource="status"
    )
    assert (through_status["spec"], through_status["status"]) == ({"k": "1"}, {"k": "y"})
    assert through_status["metadata"]["generation"] == 1
    changed = update(registry, {**through_status, "spec": {"k": "2"}, "status": {"k": "z"}}, through_status)
    assert (changed["spec"], changed["status"]) == ({"k": "2"}, {"k": "y"})
    assert changed["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^[0-9a-zA-Z-.]+$", "a-b.9", "a_b"),  # of prometheus-operator: a hyphen behind a range is a hyphen
        ("^(a+)+$", "a" * 30, "a" * 100_000 + "!"),  # an engine that goes back would never end
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
    """Errors of the engine are errors of the definition too, not of the server."""
    (told,) = _refused(definition(spec_schema({"x": {"type": "string", "pattern": pattern}})))
    assert "must be a valid regular expression, but isn't: error parsing regexp: invalid " in told
