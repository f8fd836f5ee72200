"""Events: what a controller did to an object, told where ``kubectl describe`` shows it.

What is written, and what is left out, follows client-go's event correlator (tools/record/events_cache.go): the same
news counts up, from the tenth different message of one reason on they share one event, and an object that makes too
many of them is not listened to for a while. Nothing here fails a reconcile: an event that is refused is lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, Object, Unstructured, format_time
from pyctrl.client import Client, MergePatch
from pyctrl.errors import AlreadyExists, NotFound, PyctrlError

__all__ = ["Recorder"]

log = logging.getLogger("pyctrl.cluster")

EVENT = GroupVersionKind("", "v1", "Event")

SIMILAR = 10  # from this many different messages of one reason on they are combined (defaultAggregateMaxEvents)
SIMILAR_SECONDS = 600.0  # what is further apart is not similar (defaultAggregateIntervalInSeconds)
BURST = 25  # events about one object at once (defaultSpamBurst)
REFILL_SECONDS = 300.0  # until it may have one more (1 / defaultSpamQPS)
REMEMBERED = 4096  # of each kind of memory (maxLruCacheEntries)

T = TypeVar("T")

#: Identifies what an event is about and why: kind, namespace, name, uid, type, reason.
_Group = tuple[str, ...]


@dataclass(slots=True)
class _Similar:
    """The messages of one group of late."""

    messages: set[str] = field(default_factory=set)
    last: float = 0.0


@dataclass(slots=True)
class _Written:
    """An event that is on the server."""

    name: str
    count: int


@dataclass(slots=True)
class _Bucket:
    """How many events an object may still cause."""

    tokens: float
    filled: float


class Recorder:
    """Writes a controller's events about objects.

    Args:
        live: what to write with.
        component: the controller's name, such as ``deployment-controller``.
        host: the node it runs on, if it runs on one.
    """

    def __init__(self, live: Client, component: str, *, host: str = "") -> None:
        self._live, self._component, self._host = live, component, host
        self._similar: OrderedDict[_Group, _Similar] = OrderedDict()
        self._written: OrderedDict[_Group, _Written] = OrderedDict()
        self._buckets: OrderedDict[_Group, _Bucket] = OrderedDict()
        self._last_name = 0

    async def normal(self, about: Object, reason: str, message: str, *, field_path: str = "") -> None:
        """Tell of something that went as it should, with a part of the object such as ``spec.containers{main}``."""
        await self._record(about, "Normal", reason, message, field_path)

    async def warning(self, about: Object, reason: str, message: str, *, field_path: str = "") -> None:
        """Tell of something that did not."""
        await self._record(about, "Warning", reason, message, field_path)

    async def _record(
        self, about: Object, type: Literal["Normal", "Warning"], reason: str, message: str, field_path: str
    ) -> None:
        meta = about.metadata
        subject = (about.kind, meta.namespace, meta.name, meta.uid, about.api_version, field_path)
        key, message = self._aggregate((*subject, type, reason), message)
        written = self._written.get(key)
        count = written.count + 1 if written is not None else 1
        if not self._may_speak(subject):
            return
        try:
            if written is None or not await self._count_up(about, written, count, message):
                told = {"type": type, "reason": reason, "message": message}
                name = await self._create(about, field_path, told)
                written = _remember(self._written, key, _Written(name, count))
            written.count = count
        except PyctrlError as error:
            log.debug("An event was not written: %s", error, extra={"reason": reason, "object": str(about.key)})

    def _aggregate(self, group: _Group, message: str) -> tuple[_Group, str]:
        """Return what identifies the event, and its message: its own, or that of all that are similar to it."""
        now = asyncio.get_running_loop().time()
        similar = self._similar.get(group)
        if similar is None or now - similar.last > SIMILAR_SECONDS:
            similar = _remember(self._similar, group, _Similar())
        similar.last = now
        if message in similar.messages or len(similar.messages) + 1 < SIMILAR:
            similar.messages.add(message)
            return (*group, message), message
        return group, f"(combined from similar events): {message}"

    def _may_speak(self, subject: _Group) -> bool:
        now = asyncio.get_running_loop().time()
        bucket = self._buckets.get(subject)
        if bucket is None:
            bucket = _remember(self._buckets, subject, _Bucket(BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled) / REFILL_SECONDS)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    async def _count_up(self, about: Object, written: _Written, count: int, message: str) -> bool:
        """Say that it happened again; False when that event is not there any more."""
        change = {"count": count, "lastTimestamp": format_time(_clock.now()), "message": message}
        try:
            await self._live.patch(EVENT, Key(_namespace(about), written.name), MergePatch(change))
        except NotFound:
            return False
        return True

    async def _create(self, about: Object, field_path: str, told: dict[str, str]) -> str:
        while True:
            now = _clock.now()
            name = self._new_name(about, now)
            event = _event(about, name, format_time(now), self._component, self._host)
            if field_path:
                event["involvedObject"]["fieldPath"] = field_path
            try:
                await self._live.create(Unstructured({**event, **told}))
            except AlreadyExists:
                continue  # another controller told of this object at the same moment: the next name is later
            return name

    def _new_name(self, about: Object, now: datetime) -> str:
        """Return the object's name with the time in nanoseconds; no two are alike, though clocks may stand still."""
        elapsed = now - datetime(1970, 1, 1, tzinfo=UTC)
        nanoseconds = (elapsed.days * 86400 + elapsed.seconds) * 10**9 + elapsed.microseconds * 1000
        self._last_name = max(nanoseconds, self._last_name + 1)
        return f"{about.metadata.name}.{self._last_name:x}"


def _namespace(about: Object) -> str:
    """Events about objects without a namespace are in the default one."""
    return about.metadata.namespace or "default"


def reference_to(obj: Object) -> dict[str, Any]:
    """Return what an ObjectReference says of an object."""
    meta = obj.metadata
    reference = {
        "kind": obj.kind,
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "apiVersion": obj.api_version,
        "resourceVersion": meta.resource_version,
    }
    return {key: value for key, value in reference.items() if value}


def _event(about: Object, name: str, now: str, component: str, host: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": _namespace(about)},
        "involvedObject": reference_to(about),
        "source": {"component": component, "host": host} if host else {"component": component},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host,
    }


def _remember(memory: OrderedDict[_Group, T], key: _Group, value: T) -> T:
    """Keep a value, and forget the oldest beyond the limit."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
    return value
