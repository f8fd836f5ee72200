"""Recorder of core/v1 Events for the embedded controllers.

It follows client-go's older recorder (tools/record), which kube-controller-manager and kubelet use: Events of the core
group, each repetition written at once, and client-go's correlator, which aggregates and drops Events. An Event that
cannot be written is dropped and never fails a reconcile. Operators use `pyctrl.client.EventRecorder`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, Object, Unstructured, format_time, reference_to
from pyctrl.client import Client, EventCorrelator, EventGroup, MergePatch
from pyctrl.errors import AlreadyExists, NotFound, PyctrlError

__all__ = ["LegacyEventRecorder"]

log = logging.getLogger("pyctrl.cluster")

EVENT = GroupVersionKind("", "v1", "Event")
REMEMBERED = 4096  # Events whose count can still be raised (maxLruCacheEntries)


@dataclass(slots=True)
class _RecordedEvent:
    """An Event that exists on the server."""

    name: str
    count: int


class LegacyEventRecorder:
    """Recorder of the Events of one component.

    Args:
        live: the client that writes the Events.
        component: the reporting component, such as ``deployment-controller``.
        host: the reporting node, if the component runs on one.
    """

    def __init__(self, live: Client, component: str, *, host: str = "") -> None:
        self._live, self._component, self._host = live, component, host
        self._correlator = EventCorrelator()
        self._written: OrderedDict[EventGroup, _RecordedEvent] = OrderedDict()

    async def normal(self, about: Object, reason: str, message: str, *, field_path: str = "") -> None:
        """Record a Normal Event; ``field_path`` names a part of the object, such as ``spec.containers{main}``."""
        await self._record(about, "Normal", reason, message, field_path)

    async def warning(self, about: Object, reason: str, message: str, *, field_path: str = "") -> None:
        """Record a Warning Event."""
        await self._record(about, "Warning", reason, message, field_path)

    async def _record(
        self, about: Object, type: Literal["Normal", "Warning"], reason: str, message: str, field_path: str
    ) -> None:
        meta = about.metadata
        subject = (about.kind, meta.namespace, meta.name, meta.uid, about.api_version, field_path)
        now = asyncio.get_running_loop().time()
        key, message = self._correlator.combine((*subject, type, reason), message, now)
        written = self._written.get(key)
        count = written.count + 1 if written is not None else 1
        if not self._correlator.is_allowed(subject, now):
            return
        try:
            if written is None or not await self._patch_count(about, written, count, message):
                fields = {"type": type, "reason": reason, "message": message}
                written = _RecordedEvent(await self._create(about, field_path, fields), count)
            written.count = count
            self._remember(key, written)
        except PyctrlError as error:
            log.debug("Event not written: %s", error, extra={"reason": reason, "object": str(about.key)})

    def _remember(self, key: EventGroup, written: _RecordedEvent) -> None:
        self._written[key] = written
        self._written.move_to_end(key)
        if len(self._written) > REMEMBERED:
            self._written.popitem(last=False)

    async def _patch_count(self, about: Object, written: _RecordedEvent, count: int, message: str) -> bool:
        """Raise the count of a recorded Event; return False if the Event no longer exists."""
        change = {"count": count, "lastTimestamp": format_time(_clock.now()), "message": message}
        try:
            await self._live.patch(EVENT, Key(_namespace(about), written.name), MergePatch(change))
        except NotFound:
            return False
        return True

    async def _create(self, about: Object, field_path: str, fields: dict[str, str]) -> str:
        while True:
            now = _clock.now()
            name = self._correlator.new_name(about.metadata.name, now)
            event = _event(about, name, format_time(now), self._component, self._host)
            if field_path:
                event["involvedObject"]["fieldPath"] = field_path
            try:
                await self._live.create(Unstructured({**event, **fields}))
            except AlreadyExists:
                continue  # another component recorded an Event at the same time: the next name differs
            return name


def _namespace(about: Object) -> str:
    """Return the namespace of an Event; Events about cluster-scoped objects are in ``default``."""
    return about.metadata.namespace or "default"


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
