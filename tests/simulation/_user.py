"""A user who creates, changes and deletes resources, and interferes with the operator's objects."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Literal

from examples.podset.podset import PodSet, PodSetSpec
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.errors import AlreadyExists, Conflict, NotFound
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from tests.simulation._flock import Flock, FlockSpec
from tests.simulation._operator import NAMESPACES
from tests.simulation._trace import Trace

KEYS = tuple(Key(namespace, name) for namespace in NAMESPACES for name in ("a", "b"))
LARGEST = 4  # the maximum desired size


class User:
    """Acts on the cluster directly, over a network without faults.

    `wanted` is the expected final state: the size of each PodSet and Flock.
    """

    def __init__(self, client: Client, cluster: Cluster, random: Random, trace: Trace) -> None:
        self._client, self._cluster, self._random, self._trace = client, cluster, random, trace
        self.wanted: dict[tuple[type[Any], Key], int] = {}
        self._actions: tuple[tuple[int, Callable[[], Awaitable[str]]], ...] = (
            (6, self._want),
            (4, self._resize),
            (2, self._delete),
            (1, self._recreate),
            (2, self._touch),
            (3, self._delete_pod),
            (3, self._delete_bird),
            (2, self._relabel_bird),
            (2, self._scale_behind),
            (1, self._delete_deployment),
            (1, self._compact),
        )

    async def act(self) -> None:
        """Take a random action."""
        weights, actions = zip(*self._actions, strict=True)
        (action,) = self._random.choices(actions, weights)
        try:
            did = await action()
        except (NotFound, AlreadyExists, Conflict) as error:  # changed by the cluster or the operator meanwhile
            did = f"{action.__name__}: {error.reason}"
        self._trace.say(f"user {did}")

    # --- changes of the desired state ---

    async def _want(self) -> str:
        kind, key = self._random.choice((PodSet, Flock)), self._random.choice(KEYS)
        return await self._create(kind, key)

    async def _create(self, kind: type[Any], key: Key) -> str:
        if (kind, key) in self.wanted:
            return f"has {kind.__name__} {key} already"
        size = self._random.randrange(LARGEST + 1)
        spec = (PodSetSpec if kind is PodSet else FlockSpec)(size=size)
        await self._client.create(kind(metadata=ObjectMeta(name=key.name, namespace=key.namespace), spec=spec))
        self.wanted[kind, key] = size
        return f"creates {kind.__name__} {key} of {size}"

    async def _resize(self) -> str:
        if not self.wanted:
            return "has nothing to resize"
        kind, key = self._random.choice(list(self.wanted))
        size = self._random.randrange(LARGEST + 1)
        await self._client.patch(kind, key, MergePatch({"spec": {"size": size}}))
        self.wanted[kind, key] = size
        return f"resizes {kind.__name__} {key} to {size}"

    async def _delete(self) -> str:
        if not self.wanted:
            return "has nothing to delete"
        kind, key = self._random.choice(list(self.wanted))
        how: Literal["Background", "Foreground"] = self._random.choice(("Background", "Foreground"))
        await self._client.delete(kind, key, propagation=how)
        del self.wanted[kind, key]
        return f"deletes {kind.__name__} {key}, {how}"

    async def _recreate(self) -> str:
        if not self.wanted:
            return "has nothing to recreate"
        kind, key = self._random.choice(list(self.wanted))
        await self._client.delete(kind, key)
        del self.wanted[kind, key]
        return "deletes, and at once " + await self._create(kind, key)

    async def _touch(self) -> str:
        if not self.wanted:
            return "has nothing to touch"
        kind, key = self._random.choice(list(self.wanted))
        note = str(self._random.randrange(1000))
        await self._client.patch(kind, key, MergePatch({"metadata": {"annotations": {"note": note}}}))
        return f"touches {kind.__name__} {key}"

    # --- interference ---

    async def _delete_pod(self) -> str:
        return await self._delete_some(Pod)

    async def _delete_bird(self) -> str:
        return await self._delete_some(ConfigMap, labels="bird")

    async def _relabel_bird(self) -> str:
        """Change the label of a bird so that it leaves or enters its selector."""
        found = await self._client.list(ConfigMap, labels="bird")
        if not found:
            return "finds no bird"
        bird = self._random.choice(found)
        label = None if "flock" in bird.metadata.labels else "again"
        await self._client.patch(ConfigMap, bird.key, MergePatch({"metadata": {"labels": {"flock": label}}}))
        return f"labels ConfigMap {bird.key} {label}"

    async def _delete_some(self, kind: type[Any], labels: str | None = None) -> str:
        found = await self._client.list(kind, labels=labels)
        if not found:
            return f"finds no {kind.__name__}"
        chosen = self._random.choice(found)
        await self._client.delete(chosen)
        return f"deletes {kind.__name__} {chosen.key}"

    async def _scale_behind(self) -> str:
        found = await self._client.list(Deployment)
        if not found:
            return "finds no Deployment"
        chosen, replicas = self._random.choice(found), self._random.randrange(LARGEST + 1)
        await self._client.patch(Deployment, chosen.key, MergePatch({"spec": {"replicas": replicas}}))
        return f"scales Deployment {chosen.key} to {replicas}"

    async def _delete_deployment(self) -> str:
        return await self._delete_some(Deployment)

    async def _compact(self) -> str:
        self._cluster.server.compact()
        return "(etcd) compacts"

    # --- checks ---

    def complaints(self) -> list[str]:
        """Return the differences from the expected state; empty if there are none."""
        podsets = self._sizes("/apis/apps.jicki.cn/v1alpha1/podsets", PodSet)
        flocks = self._sizes("/apis/sim.example.com/v1/flocks", Flock)
        complaints = []
        if podsets | flocks != self.wanted:
            complaints.append(f"there is {podsets | flocks}, wanted {self.wanted}")
        return [*complaints, *self._about_podsets(), *self._about_flocks()]

    def items(self, path: str) -> list[dict[str, Any]]:
        """Return all objects of a collection from the server."""
        body = self._cluster.server.handle_nowait("GET", path).body
        assert isinstance(body, bytes)
        items: list[dict[str, Any]] = json.loads(body)["items"]
        return items

    def _sizes(self, path: str, kind: type[Any]) -> dict[tuple[type[Any], Key], int]:
        return {(kind, key_of(found)): found["spec"]["size"] for found in self.items(path)}

    def _about_podsets(self) -> list[str]:
        complaints = []
        podsets = {key_of(found): found for found in self.items("/apis/apps.jicki.cn/v1alpha1/podsets")}
        deployments = {key_of(found): found for found in self.items("/apis/apps/v1/deployments")}
        pods: dict[Key, list[str]] = {key: [] for key in podsets}
        for pod in self.items("/api/v1/pods"):
            key = Key(pod["metadata"]["namespace"], pod["metadata"]["labels"]["podSet_cr"])
            is_well = pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
            pods.setdefault(key, []).append(pod["metadata"]["name"] if is_well else "(not running)")
        if deployments.keys() != podsets.keys():
            complaints.append(f"Deployments {sorted(deployments)} of PodSets {sorted(podsets)}")
        if len(replica_sets := self.items("/apis/apps/v1/replicasets")) != len(podsets):
            complaints.append(f"{len(replica_sets)} ReplicaSets of {len(podsets)} PodSets")
        for key, names in pods.items():
            size = self.wanted.get((PodSet, key), 0)
            told = podsets.get(key, {}).get("status", {}).get("nodes", [])
            owners = [ref["uid"] for ref in deployments.get(key, {}).get("metadata", {}).get("ownerReferences", [])]
            if len(names) != size or told != sorted(names) or owners != [uid_of(podsets.get(key))]:
                complaints.append(f"PodSet {key} of {size}: pods {names}, told {told}, owners {owners}")
        return complaints

    def _about_flocks(self) -> list[str]:
        flocks = {uid_of(found): found for found in self.items("/apis/sim.example.com/v1/flocks")}
        birds: dict[str, list[str]] = {uid: [] for uid in flocks}
        for bird in self.items("/api/v1/configmaps"):
            for reference in bird["metadata"].get("ownerReferences", []):
                birds.setdefault(reference["uid"], []).append(bird["metadata"]["name"])
        complaints = []
        for uid, names in birds.items():
            flock = flocks.get(uid)
            if flock is None:
                complaints.append(f"birds without a flock: {names}")
            elif len(names) != flock["spec"]["size"] or flock.get("status", {}).get("birds", []) != sorted(names):
                complaints.append(f"Flock {key_of(flock)} of {flock['spec']['size']}: {names}, {flock.get('status')}")
        return complaints


def key_of(found: dict[str, Any]) -> Key:
    """Return the key of an object in JSON."""
    return Key(found["metadata"].get("namespace", ""), found["metadata"]["name"])


def uid_of(found: dict[str, Any] | None) -> str:
    """Return the uid of an object in JSON, or ""."""
    return "" if found is None else str(found["metadata"]["uid"])
