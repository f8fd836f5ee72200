"""What a meddling user does at a step of the scenario: deletes, changes, replaces and recreates objects."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import TYPE_CHECKING, Any

from pyctrl.simulation._history import ObjectId, Sent
from pyctrl.simulation._schedule import Fault, FaultKind

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["MEDDLING", "StepFaults"]

MEDDLING = frozenset(
    {FaultKind.DELETE_CHILD, FaultKind.CHANGE_CHILD, FaultKind.REPLACE_CHILD, FaultKind.RECREATE_PARENT}
)

Json = dict[str, Any]

GONE_WITHIN = 60.0  # seconds for a deleted object to go; the finalizers of the operator may take a while
SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
FOREIGN = "simulation.pyctrl.io/foreign"  # annotation of an object that took the name of a child


class StepFaults:
    """Meddling with the objects of an operator."""

    def __init__(self, world: World) -> None:
        self._world = world
        #: Objects that took the name of a child, by uid.
        self.foreign: dict[ObjectId, str] = {}
        self._versions: dict[str, str] = {}  # of the API, by resource

    async def apply(self, fault: Fault) -> None:
        """Do what a fault asks for. An object that does not exist any more is left alone."""
        target = self._find(ObjectId.parse(fault.argument))
        if target is None:
            return
        match fault.kind:
            case FaultKind.DELETE_CHILD:
                await self._delete(target)
            case FaultKind.CHANGE_CHILD:
                await self._change(target)
            case FaultKind.REPLACE_CHILD:
                await self._replace(target)
            case FaultKind.RECREATE_PARENT:
                await self._recreate(target)

    async def end(self) -> None:
        """Remove the foreign objects that still have the name of a child, as their owner would at last."""
        for target, uid in self.foreign.items():
            stored = self._get(target)
            if stored is not None and stored["metadata"]["uid"] == uid:
                await self._request("DELETE", self._path(target), {"gracePeriodSeconds": 0})

    # -- actions -----------------------------------------------------------------------------------------------

    async def _delete(self, target: ObjectId) -> None:
        await self._request("DELETE", self._path(target), {"gracePeriodSeconds": 0})

    async def _change(self, target: ObjectId) -> None:
        """Change something that the operator wrote, in a way that the server accepts."""
        obj = self._get(target)
        if obj is None:
            return
        for patch in changes(obj, self._written(target)):
            if await self._request("PATCH", self._path(target), patch) < 300:
                return

    async def _replace(self, target: ObjectId) -> None:
        """Delete a child, and create a foreign object under its name in the same moment."""
        obj = self._get(target)
        if obj is None or obj["metadata"].get("finalizers"):
            return
        foreign = _fresh(obj)
        foreign["metadata"].pop("ownerReferences", None)
        foreign["metadata"].pop("labels", None)
        foreign["metadata"]["annotations"] = {FOREIGN: "true"}
        await self._delete(target)
        if await self._request("POST", self._path(target, collection=True), foreign) < 300:
            stored = self._get(target)
            if stored is not None:
                self.foreign[target] = stored["metadata"]["uid"]

    async def _recreate(self, target: ObjectId) -> None:
        """Delete an object, and create it again as soon as it is gone; its children may still live."""
        obj = self._get(target)
        if obj is None:
            return
        await self._delete(target)
        ends = self._world.now + GONE_WITHIN
        while self._get(target) is not None and self._world.now < ends:
            await asyncio.sleep(0.01)
        fresh = _fresh(obj)
        fresh.pop("status", None)
        await self._request("POST", self._path(target, collection=True), fresh)

    # -- requests ----------------------------------------------------------------------------------------------

    def _find(self, pattern: ObjectId) -> ObjectId | None:
        """Return the object of a name, or the first one with a generated name ``PREFIX*``."""
        if not pattern.name.endswith("*"):
            return pattern if self._get(pattern) is not None else None
        plural, _, group = pattern.resource.partition(".")
        for obj in self._world.states.wire_objects(group, plural, pattern.namespace):
            metadata = obj["metadata"]
            if metadata.get("generateName") == pattern.name[:-1] and "deletionTimestamp" not in metadata:
                return ObjectId(pattern.resource, pattern.namespace, metadata["name"])
        return None

    def _written(self, target: ObjectId) -> Json:
        """Return what the operator has written into an object so far; an update has what others wrote, too."""
        written: Json = {}
        for sent in self._world.history.of(Sent):
            mine = sent.process.startswith("operator") and sent.target == target and not sent.subresource
            if mine and isinstance(sent.body, dict) and sent.verb in ("create", "patch", "apply"):
                written = merged(written, sent.body)
        return written

    def _get(self, target: ObjectId) -> Json | None:
        plural, _, group = target.resource.partition(".")
        stored = self._world.server.storage.collection(group, plural).find(target.namespace, target.name)
        return None if stored is None else stored.decode()

    def _path(self, target: ObjectId, *, collection: bool = False) -> str:
        plural, _, group = target.resource.partition(".")
        obj = self._get(target)
        version = self._versions.setdefault(target.resource, obj["apiVersion"].rpartition("/")[2] if obj else "v1")
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        space = f"/namespaces/{target.namespace}" if target.namespace else ""
        return f"{root}{space}/{plural}" + ("" if collection else f"/{target.name}")

    async def _request(self, method: str, path: str, body: Json) -> int:
        """Send a request. It is carried out at once, unless a webhook of the operator has to be asked."""
        headers = {"content-type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
        server, content = self._world.server, json.dumps(body).encode()
        with self._world.acting_as_user():
            return (await server.handle(method, path, (), headers, content)).status


def changes(obj: Json, written: Json) -> list[Json]:
    """Return merge patches that change what the operator wrote into an object, the most telling first.

    Args:
        obj: The object as it is.
        written: What the operator wrote, merged.
    """
    found: list[Json] = []
    for part in ("data", "stringData", "spec"):
        mine = written.get(part)
        for name in sorted(mine) if isinstance(mine, dict) else ():
            value = (obj.get(part) or {}).get(name)
            if isinstance(value, bool):
                found.append({part: {name: not value}})
            elif isinstance(value, int):
                found.append({part: {name: value + 1}})
            elif isinstance(value, str) and part != "spec":
                found.append({part: {name: "Y2hhbmdlZA==" if obj.get("kind") == "Secret" else f"{value}-changed"}})
    labels = (written.get("metadata") or {}).get("labels")
    found += [{"metadata": {"labels": {name: None}}} for name in sorted(labels or ())]
    return found


def merged(base: Json, patch: Json) -> Json:
    """Return an object with the fields of another one laid over it."""
    both = {**base, **patch}
    for name in base.keys() & patch.keys():
        if isinstance(base[name], dict) and isinstance(patch[name], dict):
            both[name] = merged(base[name], patch[name])
    return both


def _fresh(obj: Json) -> Json:
    """Return an object as its author wrote it."""
    fresh = copy.deepcopy(obj)
    metadata = fresh["metadata"]
    for name in (*SERVER_FIELDS, "deletionTimestamp", "deletionGracePeriodSeconds"):
        metadata.pop(name, None)
    fresh.pop("status", None)
    return fresh
