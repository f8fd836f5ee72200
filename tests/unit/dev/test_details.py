"""Details of one object."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key
from pyctrl.controller import Request
from pyctrl.dev import OwnedObject, take_details
from pyctrl.dev._details import owned_objects
from tests.unit.dev._programs import PROGRAM
from tests.unit.dev._sessions import box_session

pytestmark = pytest.mark.usefixtures("imports_as_before")

SAMPLE = Request("default", "sample")
EVENTS = PROGRAM.replace('allow(ConfigMap, "create")', 'allow(ConfigMap, "create"), EVENTS').replace(
    "        if box.status", '        self.recorder.warning(box, "Leaking", "water comes out")\n        if box.status'
)


def obj(kind: str, name: str, owner: str = "", **more: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "uid": name}
    if owner:
        metadata["ownerReferences"] = [{"uid": owner}]
    return {"kind": kind, "metadata": metadata, **more}


async def test_an_object_has_yaml_events_and_owned_objects(tmp_path: Path) -> None:
    """Details have the object without managedFields, its Events, and what it owns."""
    async with box_session(tmp_path, f"from pyctrl import EVENTS\n{EVENTS}") as session:
        await asyncio.sleep(3)
        found = await take_details(session, "box", SAMPLE)
        assert found.yaml.startswith("apiVersion: dev.example.com/v1\nkind: Box\nmetadata:\n")
        assert "said: one" in found.yaml
        assert "managedFields" not in found.yaml
        assert [(each.kind, each.name) for each in found.owned] == [("ConfigMap", "sample")]
        assert [(each.type, each.reason, each.message) for each in found.events] == [
            ("Warning", "Leaking", "water comes out")
        ]
        assert (found.kind, found.result.startswith("done"), found.last) == ("Box", True, "2 s ago")
        assert found.causes


async def test_a_deleted_object_has_no_yaml(tmp_path: Path) -> None:
    """Details of an object that was deleted have its last reconcile only."""
    async with box_session(tmp_path) as session:
        await asyncio.sleep(3)
        await session.admin.delete(GroupVersionKind("dev.example.com", "v1", "Box"), Key("default", "sample"))
        await asyncio.sleep(3)
        found = await take_details(session, "box", SAMPLE)
        assert (found.yaml, found.owned, found.events) == ("", (), ())
        assert found.result.startswith("done")


def test_owned_objects_are_a_tree() -> None:
    """An owned object has its phase, its ready replicas, its main conditions, and what it owns itself."""
    ready = {"type": "Ready", "status": "True"}
    available = {"type": "Available", "status": "False", "reason": "Late"}
    progressing = {"type": "Progressing", "status": "True"}
    objects = [
        obj("Pod", "web-2", "set", status={"phase": "Running", "conditions": [ready, progressing]}),
        obj("Pod", "web-1", "set", status={"phase": "Pending"}),
        obj("ReplicaSet", "set", "web", spec={"replicas": 2}, status={"readyReplicas": 1}),
        obj("Deployment", "web", "site", spec={"replicas": 2}, status={"conditions": [progressing, available]}),
        obj("ConfigMap", "other", "elsewhere"),
    ]
    pods = (
        OwnedObject(uid="web-1", kind="Pod", name="web-1", state="Pending", owned=()),
        OwnedObject(uid="web-2", kind="Pod", name="web-2", state="Running, Ready", owned=()),
    )
    replica_set = OwnedObject(uid="set", kind="ReplicaSet", name="set", state="1/2 ready", owned=pods)
    state = "0/2 ready, not Available: Late"
    assert owned_objects("site", objects) == (
        OwnedObject(uid="web", kind="Deployment", name="web", state=state, owned=(replica_set,)),
    )


def test_objects_that_own_each_other_end() -> None:
    """A cycle of owners, which the server accepts, does not make an endless tree."""
    (found,) = owned_objects("a", [obj("Box", "a", "b"), obj("Box", "b", "a")], depth=3)
    assert found.owned[0].owned[0].owned == ()
