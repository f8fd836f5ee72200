"""Graph builder: updates the garbage collector's graph from watches of every kind that the cluster serves."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import GroupKind, GroupVersionKind, Metadata
from pyctrl.cache import Cache, Deleted, Synced, Updated
from pyctrl.client import Client, ResourceMapping
from pyctrl.cluster._controllers.garbagecollector.graph import Graph, GraphNode
from pyctrl.controller import Request, RequestSink, Source, TriggerCause
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition

__all__ = ["GraphBuilder"]

REQUIRED_VERBS = {"list", "watch", "delete"}  # the verbs that a resource needs to be watched and collected
IGNORED_RESOURCES = {("", "events"), ("events.k8s.io", "events")}  # they own nothing and are many (as upstream)


class GraphBuilder(Source):
    """Source that updates the graph with every change and enqueues the affected objects."""

    def __init__(self, cache: Cache, live: Client, graph: Graph) -> None:
        super().__init__()
        self._cache, self._live, self._graph = cache, live, graph
        self._watched: dict[GroupVersionKind, asyncio.Task[None]] = {}
        self._unsynced: set[GroupVersionKind] = set()

    async def run(self, queue: RequestSink) -> None:
        """Watch all kinds until cancelled, including those that are defined later."""
        async with asyncio.TaskGroup() as tasks:
            for mapping in await self._deletable_resources():
                self._start_watch(tasks, mapping.gvk, queue)
            await self._watch_definitions(tasks, queue)

    async def _deletable_resources(self) -> list[ResourceMapping]:
        """Return the resources to watch, each in its preferred version."""
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
                    self._start_watch(tasks, mapping.gvk, queue)

    def _start_watch(self, tasks: asyncio.TaskGroup, gvk: GroupVersionKind, queue: RequestSink) -> None:
        if not any(known.group_kind == gvk.group_kind for known in self._watched):
            self._unsynced.add(gvk)
            self._watched[gvk] = tasks.create_task(self._watch_kind(gvk, queue), name=f"garbage-collector {gvk}")

    async def _forget(self, definition: CustomResourceDefinition, queue: RequestSink) -> None:
        """Stop watching a kind whose definition is deleted, and remove its objects, whose events may be missing."""
        kind = GroupKind(definition.spec.group, definition.spec.names.kind)
        for gvk in [known for known in self._watched if known.group_kind == kind]:
            self._watched.pop(gvk).cancel()
            self._unsynced.discard(gvk)
            await self._cache.remove(gvk)
        cause = TriggerCause(f"definition of {kind.kind} deleted")
        for uid in self._graph.of_kind(kind):
            for affected in self._graph.remove(uid):
                queue.add(Request("", affected), cause=cause)

    async def _watch_kind(self, gvk: GroupVersionKind, queue: RequestSink) -> None:
        with self._cache.informer(gvk).subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced):
                    self._unsynced.discard(gvk)
                    if not self._unsynced:
                        self.synced.set()
                    continue
                if isinstance(change, Updated) and change.new.has_same_ownership(change.old):
                    continue  # most changes are of specs and statuses
                obj: Metadata[Any] = change.decode(Metadata.of(gvk))
                gone = isinstance(change, Deleted)
                affected = self._graph.remove(obj.metadata.uid) if gone else self._graph.put(GraphNode.of(gvk, obj))
                for uid in affected:
                    queue.add(Request("", uid), cause=TriggerCause(f"{gvk.kind} {obj.key}"))


def _served(definition: CustomResourceDefinition) -> ResourceMapping | None:
    """Return the mapping of a custom resource in its first served version; None if it is not established."""
    if not any(c.type == "Established" and c.status == "True" for c in definition.status.conditions):
        return None
    spec = definition.spec
    version = next((version.name for version in spec.versions if version.served), None)
    if version is None:
        return None
    gvk = GroupVersionKind(spec.group, version, spec.names.kind)
    return ResourceMapping(gvk=gvk, plural=spec.names.plural, namespaced=spec.scope == "Namespaced")
