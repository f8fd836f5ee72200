"""Keeps the garbage collector's graph: follows every kind that the cluster serves, those defined later included."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import GroupKind, GroupVersionKind, Metadata
from pyctrl.cache import Cache, Deleted, Synced
from pyctrl.client import Client, ResourceMapping
from pyctrl.cluster._controllers.garbagecollector.graph import Graph, GraphNode
from pyctrl.controller import Request, RequestSink, Source, TriggerCause
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition

__all__ = ["GraphBuilder"]

REQUIRED_VERBS = {"list", "watch", "delete"}  # verbs without which a kind can be neither followed nor collected
IGNORED_RESOURCES = {("", "events"), ("events.k8s.io", "events")}  # they own nothing and there are many (as upstream)


class GraphBuilder(Source):
    """Tells the graph of every change, and the controller of every object that has to be looked at because of it."""

    def __init__(self, cache: Cache, live: Client, graph: Graph) -> None:
        super().__init__()
        self._cache, self._live, self._graph = cache, live, graph
        self._followed: dict[GroupVersionKind, asyncio.Task[None]] = {}
        self._unsynced: set[GroupVersionKind] = set()

    async def run(self, queue: RequestSink) -> None:
        """Follow all kinds until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for mapping in await self._deletable_resources():
                self._follow(tasks, mapping.gvk, queue)
            await self._watch_definitions(tasks, queue)

    async def _deletable_resources(self) -> list[ResourceMapping]:
        """Return the resources to follow, each in its preferred version."""
        found: dict[tuple[str, str], ResourceMapping] = {}
        for mapping in await self._live.discovery.mappings():
            resource = mapping.gvk.group, mapping.plural
            if set(mapping.verbs) >= REQUIRED_VERBS and resource not in IGNORED_RESOURCES:
                found.setdefault(resource, mapping)
        return list(found.values())

    async def _watch_definitions(self, tasks: asyncio.TaskGroup, queue: RequestSink) -> None:
        with self._cache.informer(CustomResourceDefinition).subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced):
                    continue
                definition: CustomResourceDefinition = change.decode(CustomResourceDefinition)
                if isinstance(change, Deleted):
                    await self._forget(definition, queue)
                elif (mapping := _served(definition)) is not None:
                    self._live.discovery.learn(mapping)
                    self._follow(tasks, mapping.gvk, queue)

    def _follow(self, tasks: asyncio.TaskGroup, gvk: GroupVersionKind, queue: RequestSink) -> None:
        if not any(known.group_kind == gvk.group_kind for known in self._followed):
            self._unsynced.add(gvk)
            self._followed[gvk] = tasks.create_task(self._watch_kind(gvk, queue), name=f"garbage-collector {gvk}")

    async def _forget(self, definition: CustomResourceDefinition, queue: RequestSink) -> None:
        """Stop following a kind whose definition is gone; its objects went before it, whether that was told or not."""
        kind = GroupKind(definition.spec.group, definition.spec.names.kind)
        for gvk in [known for known in self._followed if known.group_kind == kind]:
            self._followed.pop(gvk).cancel()
            self._unsynced.discard(gvk)
            await self._cache.remove(gvk)
        cause = TriggerCause(f"definition of {kind.kind} deleted")
        for uid in self._graph.of_kind(kind):
            for concerned in self._graph.remove(uid):
                queue.add(Request("", concerned), cause=cause)

    async def _watch_kind(self, gvk: GroupVersionKind, queue: RequestSink) -> None:
        with self._cache.informer(gvk).subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced):
                    self._unsynced.discard(gvk)
                    if not self._unsynced:
                        self.synced.set()
                    continue
                obj: Metadata[Any] = change.decode(Metadata.of(gvk))
                gone = isinstance(change, Deleted)
                concerned = self._graph.remove(obj.metadata.uid) if gone else self._graph.put(GraphNode.of(gvk, obj))
                for uid in concerned:
                    queue.add(Request("", uid), cause=TriggerCause(f"{gvk.kind} {obj.key}"))


def _served(definition: CustomResourceDefinition) -> ResourceMapping | None:
    """Return where a kind is served, in the first of its versions, or None while it is not."""
    if not any(c.type == "Established" and c.status == "True" for c in definition.status.conditions):
        return None
    spec = definition.spec
    version = next((version.name for version in spec.versions if version.served), None)
    if version is None:
        return None
    gvk = GroupVersionKind(spec.group, version, spec.names.kind)
    return ResourceMapping(gvk=gvk, plural=spec.names.plural, namespaced=spec.scope == "Namespaced")
