"""Graph builder: updates the garbage collector's graph from watches of every kind that the cluster serves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pyctrl.api import GroupKind, GroupVersionKind, Key
from pyctrl.cache import Cache, Deleted, Synced, Updated
from pyctrl.client import Client, ResourceMapping
from pyctrl.cluster._controllers.custom_resource_definitions import is_established
from pyctrl.cluster._controllers.garbagecollector.graph import Graph, GraphNode
from pyctrl.controller import Request, RequestSink, Source, TriggerCause
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.apiregistration.v1 import APIService

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
        """Watch all kinds until cancelled, including those that are served later."""
        async with asyncio.TaskGroup() as tasks:
            for mapping in await self._deletable_resources():
                self._start_watch(tasks, mapping.gvk, queue)
            tasks.create_task(self._watch_api_services(tasks, queue), name="garbage-collector APIServices")
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

    async def _watch_api_services(self, tasks: asyncio.TaskGroup, queue: RequestSink) -> None:
        """Watch the kinds of extension API servers while their APIServices exist; upstream finds them by discovery."""
        remote: set[Key] = set()
        with self._cache.informer(APIService).subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced):
                    continue
                api_service: APIService = change.decode(APIService)
                place = api_service.spec.group or "", api_service.spec.version or ""
                if isinstance(change, Deleted) or api_service.spec.service is None:
                    if change.key in remote:
                        remote.remove(change.key)
                        await self._forget_kinds(queue, [gvk for gvk in self._watched if gvk[:2] == place])
                elif change.key not in remote and _is_available(api_service):
                    remote.add(change.key)
                    await self._live.discovery.refresh()
                    for mapping in await self._deletable_resources():
                        if mapping.gvk[:2] == place:
                            self._start_watch(tasks, mapping.gvk, queue)

    def _start_watch(self, tasks: asyncio.TaskGroup, gvk: GroupVersionKind, queue: RequestSink) -> None:
        if not any(known.group_kind == gvk.group_kind for known in self._watched):
            self._unsynced.add(gvk)
            self._watched[gvk] = tasks.create_task(self._watch_kind(gvk, queue), name=f"garbage-collector {gvk}")

    async def _forget(self, definition: CustomResourceDefinition, queue: RequestSink) -> None:
        kind = GroupKind(definition.spec.group, definition.spec.names.kind)
        await self._forget_kinds(queue, [known for known in self._watched if known.group_kind == kind])

    async def _forget_kinds(self, queue: RequestSink, kinds: Sequence[GroupVersionKind]) -> None:
        """Stop watching kinds that are no longer served, and remove their objects, whose events may be missing."""
        for gvk in kinds:
            self._watched.pop(gvk).cancel()
            self._unsynced.discard(gvk)
            await self._cache.remove(gvk)
            cause = TriggerCause(f"definition of {gvk.kind} deleted")
            for uid in self._graph.of_kind(gvk.group_kind):
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
                if isinstance(change, Deleted):
                    affected = self._graph.remove(change.old.uid)
                else:
                    affected = self._graph.put(GraphNode.of_record(gvk, change.new))
                for uid in affected:
                    queue.add(Request("", uid), cause=TriggerCause(f"{gvk.kind} {change.key}"))


def _is_available(api_service: APIService) -> bool:
    return any(each.type == "Available" and each.status == "True" for each in api_service.status.conditions or ())


def _served(definition: CustomResourceDefinition) -> ResourceMapping | None:
    """Return the mapping of a custom resource in its first served version; None if it is not established."""
    if not is_established(definition):
        return None
    spec = definition.spec
    version = next((version.name for version in spec.versions if version.served), None)
    if version is None:
        return None
    gvk = GroupVersionKind(spec.group, version, spec.names.kind)
    return ResourceMapping(gvk=gvk, plural=spec.names.plural, namespaced=spec.scope == "Namespaced")
