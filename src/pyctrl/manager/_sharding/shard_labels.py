"""The keeper of the label `pyctrl.io/shard`: writes it to objects that lack it, and repairs it where it is wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from random import Random
from typing import Any

import msgspec

from pyctrl._backoff import Backoff
from pyctrl.api import GroupVersionKind, Metadata, ObjectMeta
from pyctrl.cache import SHARD_LABEL, Informer, Record
from pyctrl.client import Client, WriteVerb
from pyctrl.errors import Conflict, NotFound, PyctrlError
from pyctrl.manager._sharding.shard_caches import ShardCaches

__all__ = ["FIELD_OWNER", "ShardLabelKeeper", "ShardLabels"]

log = logging.getLogger("pyctrl.manager")

FIELD_OWNER = "pyctrl-shard-label"
#: Seconds between two reads of all metadata, which find labels that are wrong; a watch finds those that are missing.
SWEEP_SECONDS = 600
#: Labels that the keeper writes at the same time.
PARALLEL = 16
#: Seconds between two repairs by one replica. While replicas with other owned kinds run, as in a rollout, they may
#: disagree about a label.
REPAIR_SECONDS = 0.1
#: Objects that wait for a repair; the keeper finds all others.
MAX_WRONG = 1000


class ShardLabels:
    """The labels of what a replica writes and sees: a `WriteMutator`, and a runnable of every replica.

    It adds the label to what reconcilers create, as a cache that selects by label would not show an object without it.
    While it runs it repairs the labels of objects that a cache has received because their label is wrong.

    Args:
        client: applies labels.
        caches: has the informers.
    """

    name = "shard labels"

    def __init__(self, client: Client, caches: ShardCaches) -> None:
        self._client, self.caches = client, caches
        self._wrong: dict[str, tuple[GroupVersionKind, ObjectMeta, str]] = {}  # by uid
        self._has_wrong = asyncio.Event()
        caches.on_wrong_label = self._note

    def mutate(self, gvk: GroupVersionKind, verb: WriteVerb, body: bytes) -> bytes:
        """Return the JSON of an object with its label, as far as its uid or owner is known."""
        informer = next((each for each in self.caches.informers if each.gvk == gvk), None)
        if informer is None or not informer.shards.by_label:
            return body
        obj = msgspec.json.decode(body)
        metadata = obj.setdefault("metadata", {})
        owners = metadata.get("ownerReferences")
        if verb == "apply" and owners is None:
            return body  # the object may have owners: an apply has only some of its fields
        uid = "" if verb == "create" else metadata.get("uid") or ""  # the server gives a new one
        label = informer.shards.label(uid, msgspec.convert(owners or [], list[_Owner]))
        labels = metadata.get("labels") or {}
        if label is None or labels.get(SHARD_LABEL) == label:
            return body
        metadata["labels"] = {**labels, SHARD_LABEL: label}
        return msgspec.json.encode(obj)

    def _note(self, informer: Informer, record: Record) -> None:
        label = informer.shards.label(record.uid, record.owners)
        metadata = ObjectMeta(name=record.name, namespace=record.namespace, uid=record.uid)
        if label is not None and len(self._wrong) < MAX_WRONG:
            self._wrong[record.uid] = informer.gvk, metadata, label
            self._has_wrong.set()

    async def run(self) -> None:
        """Repair wrong labels until cancelled."""
        while True:
            await self._has_wrong.wait()
            while self._wrong:
                gvk, metadata, label = self._wrong.pop(next(iter(self._wrong)))
                try:
                    await self.write(gvk, metadata, label)
                except PyctrlError as error:  # the keeper will repair it
                    log.debug("Failed to repair a label", extra={"kind": gvk.kind, "error": str(error)})
                await asyncio.sleep(REPAIR_SECONDS)
            self._has_wrong.clear()

    async def write(self, gvk: GroupVersionKind, metadata: ObjectMeta, label: str) -> None:
        """Write the label of an object, if it exists."""
        # With the uid: else an apply would create an object that was deleted meanwhile.
        stated: dict[str, Any] = {"name": metadata.name, "uid": metadata.uid, "labels": {SHARD_LABEL: label}}
        if metadata.namespace:
            stated["namespace"] = metadata.namespace
        obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": stated}
        with suppress(NotFound, Conflict):
            await self._client.apply(obj, field_owner=FIELD_OWNER, force=True)


class ShardLabelKeeper:
    """Keeps the labels of all objects of the kinds whose caches select by it, a runnable of the leader.

    A watch of metadata brings each object without the label, which is labelled at once. At the start, and every ten
    minutes, all metadata is read in pages, and labels that are wrong are repaired.

    Args:
        client: lists and watches.
        labels: writes the labels.
        random: the source of jitter.
    """

    name = "shard label keeper"

    def __init__(self, client: Client, labels: ShardLabels, random: Random) -> None:
        self._client, self._labels, self._random = client, labels, random

    async def run(self) -> None:
        """Keep the labels until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._labels.caches.informers:
                group.create_task(self._keep(informer), name=f"{self.name} of {informer.gvk}")
            await asyncio.get_running_loop().create_future()

    async def _keep(self, informer: Informer) -> None:
        backoff = Backoff(self._random)
        if not await informer.shards.selects_by_label():
            return
        while True:
            try:
                await self._label_all(informer)
                await self._label_new(informer)
            except* PyctrlError as errors:
                fields = {"kind": informer.gvk.kind, "error": str(errors.exceptions[0])}
                log.warning("Failed to label objects with their shard", extra=fields)
                await asyncio.sleep(backoff.next(asyncio.get_running_loop().time()))

    async def _label_all(self, informer: Informer) -> None:
        for part in informer.coverages:
            kind = Metadata.of(informer.gvk)
            found = self._client.each(kind, namespace=part.namespace, labels=part.labels, fields=part.fields)
            await self._label_each(informer, _metadata_of(found))

    async def _label_new(self, informer: Informer) -> None:
        """Label objects without the label as they come, until it is time to read all of them again."""
        async with asyncio.TaskGroup() as group:
            for part in informer.coverages:
                labels = f"{part.labels},!{SHARD_LABEL}" if part.labels.requirements else f"!{SHARD_LABEL}"
                found = self._client.watch(
                    Metadata.of(informer.gvk),
                    namespace=part.namespace,
                    labels=labels,
                    fields=part.fields,
                    timeout_seconds=SWEEP_SECONDS,
                )
                group.create_task(self._label_each(informer, _metadata_of_events(found)))

    async def _label_each(self, informer: Informer, found: AsyncIterator[ObjectMeta]) -> None:
        free = asyncio.Semaphore(PARALLEL)
        async with asyncio.TaskGroup() as group:
            async for metadata in found:
                label = informer.shards.label(metadata.uid or "", metadata.owner_references)
                if label is not None and (metadata.labels or {}).get(SHARD_LABEL) != label:
                    await free.acquire()
                    task = group.create_task(self._labels.write(informer.gvk, metadata, label))
                    task.add_done_callback(lambda _done: free.release())


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    uid: str = ""


async def _metadata_of(objects: AsyncGenerator[Any, None]) -> AsyncIterator[ObjectMeta]:
    async with aclosing(objects):
        async for obj in objects:
            yield obj.metadata


async def _metadata_of_events(events: AsyncGenerator[Any, None]) -> AsyncIterator[ObjectMeta]:
    async with aclosing(events):
        async for event in events:
            if event.type in ("ADDED", "MODIFIED"):
                yield event.object.metadata
