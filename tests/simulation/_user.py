"""A user who creates, changes and deletes resources, and interferes with the operator's objects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any, Literal

from examples.podset.podset import PodSet, PodSetSpec
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from pyctrl.simulation import World
from tests.simulation._flock import Flock, FlockSpec

NAMESPACES = ("default", "other")
KEYS = tuple(Key(namespace, name) for namespace in NAMESPACES for name in ("a", "b"))
LARGEST = 4  # the maximum desired size
PAUSES = (0.0, 0.0, 0.01, 0.1, 0.5, 2.0, 10.0)


class User:
    """Acts on the cluster, in each run in the same manner: what it wants does not depend on what there is.

    `wanted` is the expected final state: the size of each PodSet and Flock.
    """

    def __init__(self, client: Client, seed: int) -> None:
        self._client, self._seed = client, seed
        self._random = Random(seed)
        self._acts = 0
        self.wanted: dict[tuple[type[Any], Key], int] = {}
        self._actions: tuple[tuple[int, Callable[[], Awaitable[None]]], ...] = (
            (6, self._want),
            (4, self._resize),
            (2, self._delete),
            (1, self._recreate),
            (2, self._touch),
            (3, lambda: self._delete_some(Pod)),
            (3, lambda: self._delete_some(ConfigMap, labels="bird")),
            (2, self._relabel_bird),
            (2, self._scale_behind),
            (1, lambda: self._delete_some(Deployment)),
        )

    async def act(self) -> None:
        """Take a random action, and pause."""
        self._acts += 1
        self._random = Random(f"{self._seed}/{self._acts}")  # the same, whatever was drawn before
        pause = self._random.choice(PAUSES) * self._random.random()
        weights, actions = zip(*self._actions, strict=True)
        (action,) = self._random.choices(actions, weights)
        with suppress(NotFound, Conflict):  # changed by the cluster or the operator meanwhile
            await action()
        await asyncio.sleep(pause)

    # --- changes of the desired state ---

    async def _want(self) -> None:
        await self._create(self._random.choice((PodSet, Flock)), self._random.choice(KEYS))

    async def _create(self, kind: type[Any], key: Key) -> None:
        size = self._random.randrange(LARGEST + 1)
        if (kind, key) in self.wanted:
            return
        self.wanted[kind, key] = size
        while await self._client.find(kind, key) is not None:  # it is deleted in the foreground
            await asyncio.sleep(0.1)
        spec = (PodSetSpec if kind is PodSet else FlockSpec)(size=size)
        await self._client.create(kind(metadata=ObjectMeta(name=key.name, namespace=key.namespace), spec=spec))

    async def _resize(self) -> None:
        if self.wanted:
            kind, key = self._random.choice(list(self.wanted))
            self.wanted[kind, key] = size = self._random.randrange(LARGEST + 1)
            await self._client.patch(kind, key, MergePatch({"spec": {"size": size}}))

    async def _delete(self) -> None:
        if self.wanted:
            kind, key = self._random.choice(list(self.wanted))
            how: Literal["Background", "Foreground"] = self._random.choice(("Background", "Foreground"))
            del self.wanted[kind, key]
            await self._client.delete(kind, key, propagation=how)

    async def _recreate(self) -> None:
        if self.wanted:
            kind, key = self._random.choice(list(self.wanted))
            del self.wanted[kind, key]
            await self._client.delete(kind, key)
            await self._create(kind, key)

    async def _touch(self) -> None:
        if self.wanted:
            kind, key = self._random.choice(list(self.wanted))
            note = str(self._random.randrange(1000))
            await self._client.patch(kind, key, MergePatch({"metadata": {"annotations": {"note": note}}}))

    # --- interference ---

    async def _some(self, kind: type[Any], labels: str | None = None) -> Any:
        """Return an object, or None; the newest one often, of which its creator may not know yet."""
        found = await self._client.list(kind, labels=labels)
        return self._random.choice(found) if found else None

    async def _delete_some(self, kind: type[Any], labels: str | None = None) -> None:
        if (chosen := await self._some(kind, labels)) is not None:
            await self._client.delete(chosen)

    async def _relabel_bird(self) -> None:
        """Change the label of a bird so that it leaves or enters its selector."""
        if (bird := await self._some(ConfigMap, "bird")) is not None:
            label = None if "flock" in bird.metadata.labels else "again"
            await self._client.patch(ConfigMap, bird.key, MergePatch({"metadata": {"labels": {"flock": label}}}))

    async def _scale_behind(self) -> None:
        if (chosen := await self._some(Deployment)) is not None:
            replicas = self._random.randrange(LARGEST + 1)
            await self._client.patch(Deployment, chosen.key, MergePatch({"spec": {"replicas": replicas}}))

    # --- checks ---

    def check(self, world: World) -> None:
        """Check that everything is as the user wants it."""
        owners = {(type(one), one.key): one for kind in (PodSet, Flock) for one in world.objects(kind)}
        assert {which: one.spec.size for which, one in owners.items()} == self.wanted
        for (kind, key), one in owners.items():
            made = [child.metadata.name for child in world.objects(ConfigMap, key.namespace) if _is_of(child, one)]
            if kind is PodSet:
                (deployment,) = [each for each in world.objects(Deployment, key.namespace) if _is_of(each, one)]
                (replicas,) = [each for each in world.objects(ReplicaSet, key.namespace) if _is_of(each, deployment)]
                pods = [pod for pod in world.objects(Pod, key.namespace) if _is_of(pod, replicas)]
                assert {pod.status.phase for pod in pods} <= {"Running"}, f"pods of {key} do not run"
                made = [pod.metadata.name for pod in pods]
            told = one.status.nodes if kind is PodSet else one.status.birds
            assert (len(made), told) == (one.spec.size, sorted(made)), f"{kind.__name__} {key}: {made}, {told}"


def _is_of(child: Any, owner: Any) -> bool:
    return any(reference.uid == owner.metadata.uid for reference in child.metadata.owner_references)
