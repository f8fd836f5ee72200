"""Quota monitor: enqueues the quotas of a namespace when objects that they track release their usage."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pyctrl._quota import IGNORED_RESOURCES, evaluator_of, is_terminating
from pyctrl.api import GroupVersionKind
from pyctrl.cache import Cache, Deleted, Synced, Updated
from pyctrl.client import Client, ResourceMapping
from pyctrl.cluster._controllers.custom_resource_definitions import is_established
from pyctrl.controller import Request, RequestSink, Source, TriggerCause
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import Pod, ResourceQuota

__all__ = ["QuotaMonitor", "tracked_kinds"]

_ENDED = ("Failed", "Succeeded")
_COUNT = "count/"  # the prefix of names that count the objects of a resource


async def tracked_kinds(live: Client, names: Collection[str]) -> list[tuple[tuple[str, str], GroupVersionKind]]:
    """Return the resources that quotas of these names track, by group and plural, each with a kind to read it by."""
    found = _tracked(await live.discovery.mappings(), names)
    if _has_unknown(names, found):  # of a newer definition
        found = _tracked(await live.discovery.mappings(refresh=True), names)
    return list(found.items())


def _tracked(mappings: Iterable[ResourceMapping], names: Collection[str]) -> dict[tuple[str, str], GroupVersionKind]:
    found: dict[tuple[str, str], GroupVersionKind] = {}
    for mapping in mappings:
        resource = mapping.gvk.group, mapping.plural
        if not mapping.namespaced or resource in IGNORED_RESOURCES or resource in found:
            continue
        evaluator = evaluator_of(*resource)
        if {"list", "watch"} <= set(mapping.verbs) and any(evaluator.matches(name) for name in names):
            found[resource] = mapping.gvk
    return found


def _has_unknown(names: Collection[str], tracked: Collection[tuple[str, str]]) -> bool:
    """Return whether a name counts the objects of a resource that is not served."""
    counted = [name for name in names if name.startswith(_COUNT)]
    return any(not any(evaluator_of(*each).matches(name) for each in tracked) for name in counted)


class QuotaMonitor(Source):
    """Source that watches the resources that quotas track. Without quotas it watches quotas only.

    While a quota counts objects of a resource that is not served, it watches definitions, too.
    """

    def __init__(self, cache: Cache, live: Client) -> None:
        super().__init__()
        self._cache, self._live = cache, live
        self._quotas: dict[str, dict[str, frozenset[str]]] = {}  # names of resources, by namespace and name of a quota
        self._watched: set[tuple[str, str]] = set()
        self._definitions: asyncio.Task[None] | None = None  # watches definitions

    async def run(self, queue: RequestSink) -> None:
        """Watch quotas and what they track until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            with self._cache.informer(ResourceQuota).subscribe() as changes:
                async for change in changes:
                    if isinstance(change, Synced):
                        self.synced.set()
                        continue
                    namespace, name = change.key
                    if isinstance(change, Deleted):
                        self._quotas.get(namespace, {}).pop(name, None)
                        continue
                    names = frozenset(change.decode(ResourceQuota).spec.hard or ())
                    if self._quotas.setdefault(namespace, {}).get(name) != names:
                        self._quotas[namespace][name] = names
                        await self._watch(tasks, names, queue)

    async def _watch(self, tasks: asyncio.TaskGroup, names: Collection[str], queue: RequestSink) -> None:
        tracked = await tracked_kinds(self._live, names)
        for resource, gvk in tracked:
            if resource not in self._watched:
                self._watched.add(resource)
                tasks.create_task(self._watch_kind(resource, gvk, queue), name=f"resourcequota {gvk}")
        if self._definitions is None and _has_unknown(names, dict(tracked)):
            watching = self._watch_definitions(tasks, queue)
            self._definitions = tasks.create_task(watching, name="resourcequota definitions")

    async def _watch_definitions(self, tasks: asyncio.TaskGroup, queue: RequestSink) -> None:
        """Watch the custom resources that quotas counted before they were served, and calculate these quotas."""
        with self._cache.informer(CustomResourceDefinition).subscribe() as changes:
            async for change in changes:
                if isinstance(change, (Synced, Deleted)):
                    continue
                definition = change.decode(CustomResourceDefinition)
                resource = definition.spec.group, definition.spec.names.plural
                if resource in self._watched or not is_established(definition):
                    continue
                name = f"{_COUNT}{resource[1]}.{resource[0]}"
                requests = [
                    Request(namespace, quota)
                    for namespace, quotas in self._quotas.items()
                    for quota, names in quotas.items()
                    if name in names
                ]
                if requests:
                    await self._watch(tasks, [name], queue)
                for request in requests:
                    queue.add(request, cause=TriggerCause(f"CustomResourceDefinition {change.key.name}"))

    async def _watch_kind(self, resource: tuple[str, str], gvk: GroupVersionKind, queue: RequestSink) -> None:
        matches = evaluator_of(*resource).matches
        with self._cache.informer(gvk).subscribe() as changes:
            async for change in changes:
                if isinstance(change, Synced) or not (quotas := self._quotas.get(change.key.namespace)):
                    continue
                if isinstance(change, Deleted) or (isinstance(change, Updated) and _releases(resource, change)):
                    for name, names in quotas.items():
                        if any(map(matches, names)):
                            cause = TriggerCause(f"{gvk.kind} {change.key}")
                            queue.add(Request(change.key.namespace, name), cause=cause)


def _releases(resource: tuple[str, str], change: Updated) -> bool:
    """Return whether an update of an object can lower its usage without passing the admission of quotas."""
    if resource != ("", "pods"):
        return resource in (("", "services"), ("", "persistentvolumeclaims"))
    old, new = change.decode_old(Pod), change.decode(Pod)
    has_ended = new.status.phase in _ENDED and old.status.phase not in _ENDED
    return has_ended or is_terminating(_wire(old)) != is_terminating(_wire(new))


def _wire(pod: Pod) -> Mapping[str, Any]:
    return {"spec": {"activeDeadlineSeconds": pod.spec.active_deadline_seconds}}
