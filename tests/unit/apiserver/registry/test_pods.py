"""Pods: status, immutable fields, QoS classes, field labels."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import create, pod, update
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id


def test_a_new_pod_is_pending() -> None:
    """The phase that a client sends is ignored."""
    obj = pod()
    obj["status"] = {"phase": "Running"}
    created, _ = create(ResourceRegistry(), obj)
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_the_address_of_a_pod_decides_about_the_list_of_its_addresses(ask: Asker) -> None:
    """A kubelet that writes one address owns the list too; a list that disagrees with the address is replaced."""
    path = "/api/v1/namespaces/default/pods"
    assert ask("POST", path, {**pod(), "metadata": {"name": "p"}})[0] == 201
    _, written = ask("PATCH", f"{path}/p/status", {"status": {"podIP": "10.1.1.1"}}, headers=MERGE)
    assert written["status"]["podIPs"] == [{"ip": "10.1.1.1"}]
    assert "f:podIPs" in written["metadata"]["managedFields"][-1]["fieldsV1"]["f:status"]
    _, kept = ask("PATCH", f"{path}/p/status", {"status": {"podIPs": [{"ip": "10.1.1.2"}]}}, headers=MERGE)
    assert kept["status"]["podIPs"] == [{"ip": "10.1.1.1"}]


def test_a_write_to_the_status_of_a_pod_ignores_its_deletion(ask: Asker) -> None:
    """A client that sends a time of deletion with a status neither deletes the pod nor is refused."""
    path = "/api/v1/namespaces/default/pods"
    assert ask("POST", path, {**pod(), "metadata": {"name": "p"}})[0] == 201
    change = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}}
    code, written = ask("PATCH", f"{path}/p/status", change, headers=MERGE)
    assert (code, written["status"]["phase"]) == (200, "Running")
    assert "deletionTimestamp" not in written["metadata"]


def test_most_fields_of_a_pods_spec_are_immutable() -> None:
    """An update can change the image, but not the command."""
    registry = ResourceRegistry()
    old, _ = create(registry, pod())
    assert update(registry, pod(image="busybox:2"), old)["metadata"]["generation"] == 2
    with pytest.raises(StatusError, match="pod updates may not change fields other than"):
        update(registry, pod(command=["x"]), old)


def test_field_labels_of_pods() -> None:
    """Labels of unset fields have the zero value of their type."""
    registry = ResourceRegistry()
    created, _ = create(registry, pod())
    found = registry.find("", "v1", "pods")
    assert found is not None
    fields = found.selectable_fields(created)
    assert (fields["spec.nodeName"], fields["status.phase"], fields["spec.hostNetwork"]) == ("", "Pending", "false")
    assert fields["status.podIPs"] == ""


CONTAINERS = {"spec": {"containers": [{"name": "c1", "image": "i1"}, {"name": "c2", "image": "i2"}]}}
ROWS: list[Row] = [
    (
        ("", "v1", "podtemplates"),
        {"template": {"metadata": {"labels": {"c": "d", "a": "b"}}, **CONTAINERS}},
        ["c1,c2", "i1,i2", "a=b,c=d"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
