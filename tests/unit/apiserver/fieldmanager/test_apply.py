"""Server-side apply: ownership, conflicts, removal, lists."""

from __future__ import annotations

import asyncio
import copy
from datetime import timedelta
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._fieldmanager.apply import server_side_apply
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._fieldmanager.typed import check_configuration
from tests.unit.apiserver._objects import GROUP, deployment, install, spec_schema

SCHEMA = spec_schema(
    {
        "byName": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "v": {"type": "integer"}, "w": {"type": "integer"}},
            },
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "atomic": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }
)


class Applier:
    """An object to which managers apply configurations."""

    def __init__(self) -> None:
        registry = ResourceRegistry()
        install(registry, SCHEMA, subresources={"status": {}})
        found = registry.find(GROUP, "v1", "things")
        assert found is not None
        self.type = found
        self.live: dict[str, Any] | None = None

    def problems(self, spec: dict[str, Any]) -> str:
        """Return the error of a configuration."""
        with pytest.raises(StatusError) as refused:
            check_configuration({"metadata": {"name": "o"}, "spec": spec}, self.type)
        head, told = str(refused.value).split("): ", 1)
        assert head == f"failed to create typed patch object (/o; {GROUP}/v1, Kind=Thing"
        return told

    def __call__(
        self,
        manager: str,
        spec: dict[str, Any],
        *,
        force: bool = False,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Apply a configuration; return the resulting spec."""
        named = {"name": "o", **(metadata or {})}
        patch = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": named, "spec": spec}
        self.live = server_side_apply(self.live, patch, type=self.type, field_manager=manager, force=force, **more)
        found: dict[str, Any] = self.live.get("spec") or {}  # an empty spec: decoding drops the null
        return found

    def update(self, manager: str, spec: dict[str, Any]) -> None:
        """Replace the spec with an update."""
        assert self.live is not None
        new = {**copy.deepcopy(self.live), "spec": spec}
        update_managed_fields(
            new,
            self.live,
            manager=manager,
            operation="Update",
            api_version=f"{GROUP}/v1",
            subresource="",
            type=self.type,
        )
        self.live = new

    @property
    def owners(self) -> dict[str, Any]:
        """Return the owners of the fields of the spec."""
        assert self.live is not None
        entries = self.live["metadata"].get("managedFields", [])
        return {entry["manager"]: entry["fieldsV1"].get("f:spec") for entry in entries}


@pytest.fixture
def apply() -> Applier:
    """An object that does not exist."""
    return Applier()


def test_applying_creates_and_owns(apply: Applier) -> None:
    """The first apply creates the object; the manager owns exactly the applied fields."""
    assert apply("one", {"map": {"k": "1"}}) == {"map": {"k": "1"}}
    assert apply.owners == {"one": {"f:map": {"f:k": {}}}}


def test_what_is_no_longer_stated_goes(apply: Applier) -> None:
    """A field that the manager no longer applies is removed, unless another manager owns it."""
    apply("one", {"map": {"k": "1", "l": "1"}})
    apply("two", {"map": {"l": "1"}})
    assert apply("one", {}) == {"map": {"l": "1"}}
    assert apply("two", {}) == {}


def test_another_managers_field_is_a_conflict(apply: Applier) -> None:
    """Changing a field of another manager is a conflict with field and manager; applying the same value is not."""
    apply("one", {"map": {"k": "1"}, "atomic": ["x"]})
    assert apply("two", {"map": {"k": "1"}}) == {"map": {"k": "1"}, "atomic": ["x"]}
    with pytest.raises(StatusError) as refused:
        apply("three", {"map": {"k": "2"}, "atomic": ["y"]})
    assert refused.value.code == 409
    causes = refused.value.status["details"]["causes"]
    assert [(cause["field"], cause["message"]) for cause in causes] == [
        (".spec.atomic", 'conflict with "one"'),
        (".spec.map.k", 'conflict with "one"'),
        (".spec.map.k", 'conflict with "two"'),
    ]
    assert str(refused.value).startswith('Apply failed with 3 conflicts: conflicts with "one":\n- .spec.atomic')


def test_force_takes_the_field(apply: Applier) -> None:
    """With force the manager takes over the field."""
    apply("one", {"map": {"k": "1", "l": "1"}})
    assert apply("two", {"map": {"k": "2"}}, force=True)["map"] == {"k": "2", "l": "1"}
    assert apply.owners == {"one": {"f:map": {"f:l": {}}}, "two": {"f:map": {"f:k": {}}}}


def test_an_updater_owns_what_it_changed(apply: Applier) -> None:
    """An update owns the fields that it changes; applying them again is a conflict with the updater."""
    apply("one", {"map": {"k": "1"}})
    apply.update("hand", {"map": {"k": "2"}})
    with pytest.raises(StatusError) as refused:
        apply("one", {"map": {"k": "1"}})
    assert str(refused.value) == f'Apply failed with 1 conflict: conflict with "hand" using {GROUP}/v1: .spec.map.k'


def test_keyed_lists_and_sets_are_shared_item_by_item(apply: Applier) -> None:
    """Two managers share a list: each owns its items and fields, and removes only those."""
    apply("one", {"byName": [{"name": "a", "v": 1}, {"name": "b", "v": 1}], "set": ["x", "y"]})
    merged = apply("two", {"byName": [{"name": "b", "w": 2}, {"name": "c", "v": 3}], "set": ["y", "z"]})
    assert merged["byName"] == [{"name": "a", "v": 1}, {"name": "b", "v": 1, "w": 2}, {"name": "c", "v": 3}]
    assert merged["set"] == ["x", "y", "z"]
    rest = apply("one", {"byName": [{"name": "b", "v": 1}], "set": ["x"]})
    assert rest["byName"] == [{"name": "b", "v": 1, "w": 2}, {"name": "c", "v": 3}]
    assert rest["set"] == ["x", "y", "z"]


def test_applying_the_same_again_changes_nothing(apply: Applier) -> None:
    """An apply without changes keeps the object, including the times of its managed fields, also at a later time."""
    began = _clock.now()
    apply("one", {"map": {"k": "1"}})
    before = copy.deepcopy(apply.live)
    with _clock.use(lambda: began + timedelta(seconds=2)):
        apply("one", {"map": {"k": "1"}})
    assert apply.live == before


def test_each_door_owns_its_part() -> None:
    """An apply to the object does not own its status; an apply to /status owns nothing else."""
    found = ResourceRegistry().find("apps", "v1", "deployments")
    assert found is not None
    patch = {**deployment(), "status": {"replicas": 1}}
    made = server_side_apply(None, patch, type=found, field_manager="one", force=False)
    assert made["metadata"]["managedFields"][0]["fieldsV1"].keys() == {"f:spec"}
    again = server_side_apply(made, patch, type=found, field_manager="two", force=False, subresource="status")
    mine = next(entry for entry in again["metadata"]["managedFields"] if entry["manager"] == "two")
    assert (mine["subresource"], mine["fieldsV1"]) == ("status", {"f:status": {"f:replicas": {}}})


def test_an_object_from_before_is_not_taken_over_silently(apply: Applier) -> None:
    """Fields of an untracked object are owned by `before-first-apply`: changing them is a conflict."""
    apply.live = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "o"}, "spec": {"map": {"k": "1"}}}
    with pytest.raises(StatusError, match="before-first-apply"):
        apply("one", {"map": {"k": "2"}})


def test_a_field_the_schema_does_not_have_is_refused(apply: Applier) -> None:
    """An undeclared field is refused with its path."""
    assert apply.problems({"nope": 1}) == ".spec.nope: field not declared in schema"


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        (
            {"byName": [{"v": 1}]},
            (
                ".spec.byName: element 0: associative list with keys has an element that omits all key fields "
                """["name"] (and doesn't have default values for any key fields)"""
            ),
        ),
        ({"byName": [None]}, ".spec.byName: element 0: associative list with keys may not have a null element"),
        ({"byName": ["x"]}, ".spec.byName: element 0: associative list with keys may not have non-map elements"),
        ({"byName": [{"name": "x"}] * 2}, '.spec.byName: duplicate entries for key [name="x"]'),
        ({"set": [{}]}, ".spec.set: element 0: associative list without keys has an element that's a map type"),
        ({"set": ["x", "x"]}, '.spec.set: duplicate entries for key [="x"]'),
        ({"atomic": {"a": 1}}, ".spec.atomic: expected list, got &{map[a:1]}"),
        ({"atomic": ["x", 1]}, ".spec.atomic[1]: expected string, got &value.valueUnstructured{Value:1}"),
        ({"map": [True]}, ".spec.map: expected map, got &{[true]}"),
        (
            {"byName": [{"name": "x", "v": "1"}]},
            '.spec.byName[name="x"].v: expected numeric (int or float), got string',
        ),
    ],
)
def test_a_value_that_does_not_fit_the_schema_is_refused(apply: Applier, spec: dict[str, Any], problems: str) -> None:
    """The error has the path and the message of structured-merge-diff."""
    assert apply.problems(spec) == problems


def test_every_mistake_is_named(apply: Applier) -> None:
    """A configuration with several errors is refused with all of them, in the order of the names."""
    told = apply.problems({"set": "x", "map": {"a": 1}, "atomic": None})

    assert told == (
        "errors:\n  .spec.map.a: expected string, got &value.valueUnstructured{Value:1}"
        "\n  .spec.set: expected list, got &{x}"
    )


def test_an_emptied_map_stays(apply: Applier) -> None:
    """`map: {k: …}`, then `map: {}` by the same manager leaves an empty map. An empty set is removed."""
    apply("one", {"map": {"k": "1"}, "set": ["a"], "byName": [{"name": "x", "v": 1}]})

    assert apply("one", {"map": {}, "set": [], "byName": [{"name": "x"}]}) == {"map": {}, "byName": [{"name": "x"}]}


def test_the_last_field_of_metadata_goes_and_metadata_stays(apply: Applier) -> None:
    """An apply without the object's only finalizer removes it and keeps the name."""
    apply("one", {"map": {"k": "1"}}, metadata={"finalizers": ["example.com/a"], "labels": {"a": "b"}})
    apply("one", {"map": {"k": "1"}})

    assert apply.live is not None
    kept = {key: value for key, value in apply.live["metadata"].items() if value and key != "managedFields"}
    assert kept == {"name": "o"}


def test_a_null_takes_nothing_from_a_granular_value(apply: Applier) -> None:
    """A null means an empty map or list: the fields of other managers in it stay."""
    apply("one", {"map": {"k": "1"}, "set": ["a"], "atomic": ["a"]})

    assert apply("two", {"map": None, "set": None, "atomic": None}, force=True) == {
        "map": {"k": "1"},
        "set": ["a"],
        "atomic": None,
    }


def test_an_empty_list_of_owned_items_is_not_owned(apply: Applier) -> None:
    """An empty set is not owned; an empty map and an empty atomic list are."""
    apply("one", {"set": [], "byName": [], "map": {}, "atomic": []})

    assert apply.live is not None
    (entry,) = apply.live["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:spec": {"f:map": {}, "f:atomic": {}}}


def test_built_in_lists_use_the_schemas_keys_and_their_defaults() -> None:
    """A container port without a protocol is the one with TCP, as in kube-apiserver."""
    found = ResourceRegistry().find("apps", "v1", "deployments")
    assert found is not None
    patch = deployment()
    patch["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    made = server_side_apply(None, patch, type=found, field_manager="one", force=False)
    fields = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert fields['k:{"name":"c"}']["f:ports"] == {
        'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}
    }


async def test_applying_the_same_later_changes_nothing(apply: Applier) -> None:
    """An apply without changes does not renew the time of its managed fields either."""
    apply("one", {"map": {"k": "1"}})
    before = copy.deepcopy(apply.live)
    await asyncio.sleep(2)
    apply("one", {"map": {"k": "1"}})
    assert apply.live == before
