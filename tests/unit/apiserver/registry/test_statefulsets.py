"""StatefulSets: claim templates as volumes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, deployment
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id


def test_claim_templates_are_volumes_of_the_pods() -> None:
    """Containers can mount claims by the name of their template, also in place of a volume; other names are errors."""
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [container]}}
    volumes = {"spec": {"containers": [container], "volumes": [{"name": "data", "emptyDir": {}}]}}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}},
    }
    stateful_set = {**deployment(serviceName="s", template=template), "kind": "StatefulSet"}
    claimed = {**stateful_set["spec"], "volumeClaimTemplates": [claim]}
    create(ResourceRegistry(), {**stateful_set, "spec": claimed})
    created, _ = create(ResourceRegistry(), {**stateful_set, "spec": {**claimed, "template": {**template, **volumes}}})
    assert created["spec"]["template"]["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}]
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), stateful_set)
    assert complaints(refused.value) == ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"']


ROWS: list[Row] = [
    (
        ("apps", "v1", "controllerrevisions"),
        {
            "metadata": {
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}]
            },
            "revision": 3,
        },
        ["daemonset.apps/d", 3],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
