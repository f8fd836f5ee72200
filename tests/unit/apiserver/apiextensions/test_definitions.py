"""CustomResourceDefinitions: validation, defaults, conditions."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._apiextensions.definitions import condition, is_established, mark_terminating, updated_status
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import GROUP, complaints, create, definition, update

OBJECT = {"type": "object"}


def _refused(obj: dict[str, Any], registry: ResourceRegistry | None = None) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(registry or ResourceRegistry(), obj)
    assert refused.value.code == 422
    return complaints(refused.value)


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


def test_refused_versions_are_shown_as_go_prints_them() -> None:
    """The error has the names and the zeros of Go's fields, without what all versions have in common."""
    obj = definition({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}})
    column = {"name": "A", "type": "string", "jsonPath": ".a"}
    other = {"name": "v2", "storage": True, "served": True, "schema": {"openAPIV3Schema": OBJECT}}
    obj["spec"]["versions"].append({**other, "additionalPrinterColumns": [column], "subresources": {"status": {}}})
    told = _refused(obj)[0]
    assert told.startswith(
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,'
    )
    assert '"Properties":{"a":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"string","Nullable":false' in told
    assert '"Subresources":{"Status":{},"Scale":null}' in told
    assert '[{"Name":"A","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".a"}]' in told


def test_versions_are_required() -> None:
    """The error of a definition without versions tells null from an empty list."""
    for versions, shown in ((None, "null"), ([], "[]")):
        obj = definition(OBJECT)
        obj["spec"]["versions"] = versions
        told = _refused(obj)
        assert (
            told[0] == f"spec.versions: Invalid value: {shown}: must have exactly one version marked as storage version"
        )


def test_defaults_need_pruning() -> None:
    """A definition that keeps all unknown fields has no defaults; both mistakes are reported."""
    obj = definition({"type": "object", "properties": {"spec": {"type": "object", "default": {}}}})
    obj["spec"]["preserveUnknownFields"] = True
    assert [each.partition(", set ")[0] for each in _refused(obj)] == [
        "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema",
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true",
    ]


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
    accepted = updated_status(created, [])
    assert accepted is not None
    assert [each["type"] for each in accepted["status"]["conditions"]] == ["NamesAccepted", "Established"]
    assert accepted["status"]["acceptedNames"] == accepted["spec"]["names"]
    registry.install(accepted)
    assert updated_status(accepted, []) is None
    assert registry.find(GROUP, "v1", "things") is not None
    registry.remove(accepted["metadata"]["name"])
    assert registry.find(GROUP, "v1", "things") is None
    assert GROUP not in registry.group_versions


def test_names_that_are_taken_are_not_accepted() -> None:
    """A definition whose kind exists in the group is not established; the condition names the kind."""
    registry = ResourceRegistry()
    first, _ = create(registry, definition(OBJECT))
    second, _ = create(registry, definition(OBJECT, plural="others"))
    judged = updated_status(second, [first["spec"]["names"]])
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
