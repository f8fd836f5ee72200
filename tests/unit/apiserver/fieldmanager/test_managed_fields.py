"""Managed fields of writes other than apply."""

from __future__ import annotations

import copy
from typing import Any

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._fieldmanager.managed_fields import (
    ANCIENT_CHANGES,
    MAX_UPDATE_MANAGERS,
    ManagerIdentifier,
    update_managed_fields,
)
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import create, deployment


def _tracked(
    new: dict[str, Any], old: dict[str, Any] | None = None, *, manager: str = "m", subresource: str = ""
) -> list[dict[str, Any]]:
    group, _, version = new["apiVersion"].rpartition("/")
    found = ResourceRegistry().by_kind(group, version, new["kind"])
    assert found is not None
    update_managed_fields(
        new,
        old,
        manager=manager,
        operation="Update",
        api_version=new["apiVersion"],
        subresource=subresource,
        type=found,
    )
    entries: list[dict[str, Any]] = new["metadata"].get("managedFields", [])
    return entries


def _config(data: dict[str, str], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, "data": data}


def test_who_creates_owns_what_is_there() -> None:
    """The creator owns every field except identity and versions."""
    (entry,) = _tracked(_config({"k": "1"}, namespace="d", uid="u", labels={"x": "y"}))
    assert entry["fieldsV1"] == {
        "f:data": {".": {}, "f:k": {}},
        "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
    }
    assert (entry["manager"], entry["operation"], entry["apiVersion"]) == ("m", "Update", "v1")


def test_structs_that_are_always_there_are_not_owned() -> None:
    """The fields of a Deployment's spec are owned, but not the spec itself, which every Deployment has."""
    obj, _ = create(ResourceRegistry(), deployment())
    (entry,) = _tracked(obj)
    spec = entry["fieldsV1"]["f:spec"]
    assert "." not in spec
    assert spec["f:selector"] == {}
    assert spec["f:strategy"]["f:rollingUpdate"]["."] == {}
    assert spec["f:template"]["f:spec"]["f:containers"].keys() == {'k:{"name":"c"}'}


def test_a_change_moves_only_what_changed() -> None:
    """The second writer owns the field that it changed, the first keeps the others; a removed field has no owner."""
    old = _config({"k": "1", "l": "1", "m": "1"})
    _tracked(old, manager="one")
    new = copy.deepcopy(old)
    new["data"] = {"k": "2", "m": "1"}
    owned = {entry["manager"]: entry["fieldsV1"] for entry in _tracked(new, old, manager="two")}
    assert owned == {"one": {"f:data": {".": {}, "f:m": {}}}, "two": {"f:data": {"f:k": {}}}}


def test_the_status_door_owns_status_only() -> None:
    """A write of the status has a separate entry with the subresource and owns nothing of the spec."""
    old, _ = create(ResourceRegistry(), deployment())
    _tracked(old)
    new = copy.deepcopy(old)
    new["status"] = {"replicas": 1}
    new["spec"]["replicas"] = 5
    _, entry = _tracked(new, old, subresource="status")
    assert entry["subresource"] == "status"
    assert entry["fieldsV1"] == {"f:status": {"f:replicas": {}}}


def test_a_client_may_give_up_all_entries() -> None:
    """Sending one empty entry clears the managed fields."""
    old = _config({"k": "1"})
    _tracked(old)
    new = {**copy.deepcopy(old), "metadata": {"name": "a", "managedFields": [{}]}}
    assert _tracked(new, old) == []


def test_an_object_without_entries_is_not_tracked() -> None:
    """Updates of an object without managed fields do not add any."""
    old = _config({"k": "1"})
    new = _config({"k": "2"})
    assert _tracked(new, old) == []


def test_old_updaters_are_put_together() -> None:
    """Beyond ten updaters the oldest share one entry, and no field is lost."""
    live: dict[str, Any] | None = None
    for number in range(MAX_UPDATE_MANAGERS + 3):
        new = copy.deepcopy(live) if live else _config({})
        new["data"][f"k{number}"] = "1"
        _tracked(new, live, manager=f"m{number:02}")
        live = new
    assert live is not None
    entries = live["metadata"]["managedFields"]
    assert len(entries) <= MAX_UPDATE_MANAGERS + 1
    assert ANCIENT_CHANGES in {entry["manager"] for entry in entries}
    fields = [key for entry in entries for key in entry["fieldsV1"]["f:data"] if key != "."]
    assert len(fields) == MAX_UPDATE_MANAGERS + 3


def test_a_field_that_its_owner_removes_has_no_owner() -> None:
    """A manager that removes its own field, or its last one, does not own it any more."""
    old = _config({"k": "1", "l": "1"})
    _tracked(old)
    new = _config({"k": "1"}, managedFields=old["metadata"]["managedFields"])
    (entry,) = _tracked(new, old)
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:k": {}}}


def test_the_version_of_the_kind_makes_no_other_manager_of_an_apply() -> None:
    """An apply has one entry for all versions of a kind; an update has one for each, and each subresource its own."""
    manager = ManagerIdentifier("m", "Apply", "example.com/v1", "")
    assert manager.is_same(manager._replace(api_version="example.com/v2"))
    assert not manager.is_same(manager._replace(subresource="status"))
    assert not manager.is_same(manager._replace(operation="Update"))
    update = manager._replace(operation="Update")
    assert update.is_same(update)
    assert not update.is_same(update._replace(api_version="example.com/v2"))
    assert not update.is_same(update._replace(subresource="status"))


def test_a_client_that_sends_no_entries_keeps_those_of_others() -> None:
    """A replacement without managed fields, as most clients send it, changes the owners of what it changes only."""
    old = _config({"k": "1", "l": "1"})
    _tracked(old, manager="one")
    owned = {entry["manager"]: entry["fieldsV1"] for entry in _tracked(_config({"k": "1", "l": "2"}), old)}
    assert owned == {"one": {"f:data": {".": {}, "f:k": {}}}, "m": {"f:data": {"f:l": {}}}}


def test_the_data_of_a_controller_revision_has_one_owner(ask: Asker) -> None:
    """A raw extension is one field, whatever it has inside."""
    body = {"metadata": {"name": "r"}, "revision": 1, "data": {"a": {"b": 1}}}
    made = ask("POST", "/apis/apps/v1/namespaces/default/controllerrevisions", body)[1]
    assert made["metadata"]["managedFields"][0]["fieldsV1"]["f:data"] == {}
