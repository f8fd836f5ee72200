"""Managed fields of writes other than apply."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._fieldmanager.managed_fields import (
    ANCIENT_CHANGES,
    MAX_UPDATE_MANAGERS,
    ManagerIdentifier,
    update_managed_fields,
)
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver._objects import GROUP, create, definition, deployment, spec_schema, thing


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


def test_fields_are_written_in_the_order_of_upstream(ask: Asker) -> None:
    """Clients in Go compare field sets byte by byte: names are sorted, and keys of items by their numbers."""
    ports = [{"port": port, "targetPort": 1, "name": f"p{port}"} for port in (8080, 443, 80)]
    spec = {"type": "ClusterIP", "ports": ports}
    made = ask(
        "POST",
        "/api/v1/namespaces/default/services",
        {"spec": spec, "metadata": {"name": "s", "labels": {"b": "", "a": ""}}},
    )
    (entry,) = made[1]["metadata"]["managedFields"]
    assert list(entry["fieldsV1"]) == ["f:metadata", "f:spec"]
    assert list(entry["fieldsV1"]["f:spec"]) == sorted(entry["fieldsV1"]["f:spec"])
    assert list(entry["fieldsV1"]["f:metadata"]["f:labels"]) == [".", "f:a", "f:b"]
    items = [f'k:{{"port":{port},"protocol":"TCP"}}' for port in (80, 443, 8080)]
    assert list(entry["fieldsV1"]["f:spec"]["f:ports"]) == [".", *items]


def test_fields_that_a_client_sends_are_sorted_too() -> None:
    """An entry that a client replaces is written in the same order as the others."""
    old = _config({"k": "1"})
    _tracked(old)
    fields = {"f:metadata": {"f:labels": {"f:b": {}, "f:a": {}}}, "f:data": {"f:k": {}, ".": {}}}
    sent = {"manager": "o", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    (entry,) = _tracked(_config({"k": "1"}, managedFields=[sent]), old)
    assert list(entry["fieldsV1"]) == ["f:data", "f:metadata"]
    assert list(entry["fieldsV1"]["f:data"]) == [".", "f:k"]
    assert list(entry["fieldsV1"]["f:metadata"]["f:labels"]) == ["f:a", "f:b"]


@pytest.mark.parametrize("element", ["x", "k:[]", "k:{", "v:", 'i:"a"'])
def test_entries_with_unreadable_fields_are_ignored(element: str) -> None:
    """If a client sends a field set with an element that is none, the entries of the object stay."""
    old = _config({"k": "1"})
    before = _tracked(old)
    sent = {"manager": "o", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {element: {}}}}
    assert _tracked(_config({"k": "1"}, managedFields=[sent]), old) == before


APPLY = {"Content-Type": "application/apply-patch+yaml"}
THINGS = "/apis/versions.example.com/{version}/namespaces/default/things/t"


def _without_version_one(ask: Asker) -> None:
    """Create a Thing by version v1, then remove this version from its definition."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    one = {"name": "v1", "served": True, "storage": False, "schema": schema}
    two = {**one, "name": "v2", "storage": True}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    spec = {"group": "versions.example.com", "scope": "Namespaced", "names": names, "versions": [one, two]}
    body = {"metadata": {"name": "things.versions.example.com"}, "spec": spec}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert ask("POST", definitions, body)[0] == 201
    thing = {"apiVersion": "versions.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}}
    path = THINGS.format(version="v1")
    assert ask("PATCH", path, thing, headers=APPLY, fieldManager="one")[0] == 201
    changed = ask("PATCH", f"{definitions}/things.versions.example.com", {"spec": {"versions": [two]}}, headers=MERGE)
    assert changed[0] == 200


def test_an_apply_fails_if_a_manager_has_a_version_that_was_removed(ask: Asker) -> None:
    """As in kube-apiserver, an object whose fields were owned in a removed version cannot be applied."""
    _without_version_one(ask)
    thing = {"apiVersion": "versions.example.com/v2", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 2}}
    code, status = ask("PATCH", THINGS.format(version="v2"), thing, headers=APPLY, fieldManager="two", force="true")
    assert code == 500
    assert status["message"] == "request to convert CR to an invalid group/version: versions.example.com/v1"


def test_an_update_loses_the_managers_of_a_removed_version(ask: Asker) -> None:
    """As in kube-apiserver, an update of such an object drops its managed fields, and it can be applied again."""
    _without_version_one(ask)
    code, changed = ask("PATCH", THINGS.format(version="v2"), {"spec": {"a": 3}}, headers=MERGE)
    assert (code, changed["spec"]) == (200, {"a": 3})
    assert "managedFields" not in changed["metadata"]
    thing = {"apiVersion": "versions.example.com/v2", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 2}}
    code, applied = ask("PATCH", THINGS.format(version="v2"), thing, headers=APPLY, fieldManager="two", force="true")
    assert (code, applied["spec"]) == (200, {"a": 2})


def test_an_update_with_an_empty_list_of_managed_fields_removes_them(ask: Asker) -> None:
    """A client that sends an empty list gets an object without managers, as with a list of an empty entry."""
    ask.make("a", data={"k": "1"})
    code, put = ask("PUT", f"{CONFIGMAPS}/a", _config({"k": "2"}, managedFields=[]))
    assert (code, "managedFields" in put["metadata"]) == (200, False)


def test_an_update_loses_the_managers_of_a_version_that_lacks_its_fields(ask: Asker) -> None:
    """As kube-apiserver: an object with a field that the version of a manager does not declare has no managers."""
    body = definition(spec_schema({"a": {"type": "string"}}))
    other = copy.deepcopy(body["spec"]["versions"][0])
    other["name"], other["storage"] = "v2", False
    other["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = {"b": {"type": "string"}}
    body["spec"]["versions"].append(other)
    assert ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)[0] == 201
    old, new = (f"/apis/{GROUP}/{version}/namespaces/default/things" for version in ("v1", "v2"))
    made = {**thing({"b": "x"}), "apiVersion": f"{GROUP}/v2"}
    assert "managedFields" in ask("POST", new, made)[1]["metadata"]
    changed = ask("PATCH", f"{old}/a", {"spec": {"a": "y"}}, headers=MERGE)[1]
    assert (changed["spec"], "managedFields" in changed["metadata"]) == ({"a": "y"}, False)
