"""Events of a watch on their way to the operator: noted, delayed, coalesced, or hidden behind a relist."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from pyctrl.errors import StreamBroken
from pyctrl.simulation._history import Delivered, ObjectId
from pyctrl.simulation._schedule import FaultKind, Occasion

if TYPE_CHECKING:
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._world import World

__all__ = ["BehindFilter", "EventFilter"]

HELD_FOR = 30.0  # seconds that an event waits for its successor at most


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Event(msgspec.Struct):
    type: str
    object: _Object


_decoder = msgspec.json.Decoder(_Event)


class EventFilter:
    """Passes the events of one watch. Events of its initial list are no points."""

    def __init__(self, world: World, process: Process, resource: str, *, is_initial: bool) -> None:
        self._world, self._process, self._resource = world, process, resource
        self._is_initial = is_initial
        self._push: Callable[[bytes], None] = _drop
        self._held: list[bytes] = []
        self._held_for: ObjectId | None = None

    def connect(self, push: Callable[[bytes], None]) -> None:
        """Take the function that delivers held lines."""
        self._push = push

    async def pass_line(self, line: bytes) -> list[bytes]:
        """Return the lines to deliver; see `StreamFilter`."""
        try:
            event = _decoder.decode(line)
        except msgspec.DecodeError:
            return self._or_held(line)
        if event.type == "BOOKMARK":
            self._is_initial = False
            return self._or_held(line)
        if self._is_initial or event.type == "ERROR":
            return self._or_held(line)
        metadata = event.object.metadata
        target = ObjectId(self._resource, metadata.namespace, metadata.name)
        what = f"{self._resource} {self._world.stable_name(target)} {event.type}"
        point, faults = self._world.injector.reached(Occasion.EVENT, what, self._process.name)
        await self._wait_until(self._world.faults.stale_until(self._process))
        for fault in faults:
            if fault.kind is FaultKind.DELAY:
                self._world.faults.last_until(self._world.now + fault.seconds)
                await asyncio.sleep(fault.seconds)
            elif fault.kind is FaultKind.HIDE:
                self._world.faults.hide(self._process, target)
                raise StreamBroken("simulation: the watch broke before an event")
            elif fault.kind is FaultKind.COALESCE:
                self._hold(target)
            else:
                self._world.faults.apply(fault, self._process)
        self._world.note(
            Delivered(
                process=self._process.name,
                point=point,
                type=event.type,
                target=target,
                uid=metadata.uid,
                version=metadata.resource_version,
            )
        )
        if self._held_for == target and self._held:
            self._held.append(line)
            self._release()
            return []
        return self._or_held(line)

    def _or_held(self, line: bytes) -> list[bytes]:
        """Hold a line while an earlier one is held: a watch keeps its order."""
        if self._held_for is None:
            return [line]
        self._held.append(line)
        return []

    def _hold(self, target: ObjectId) -> None:
        self._held_for = target
        self._world.faults.last_until(self._world.now + HELD_FOR)
        self._world.call_later(HELD_FOR, self._release)

    def _release(self) -> None:
        lines, self._held, self._held_for = self._held, [], None
        if lines:
            self._push(b"".join(line + b"\n" for line in lines))

    async def _wait_until(self, when: float) -> None:
        now = asyncio.get_running_loop().time()
        if now < when:
            await asyncio.sleep(when - now)


def _drop(_chunk: bytes) -> None:
    """Deliver nothing: the stream is not open yet."""


class BehindFilter(EventFilter):
    """Passes no event before a time: the server that the operator watches is behind."""

    def __init__(self, world: World, process: Process, resource: str, *, until: float) -> None:
        super().__init__(world, process, resource, is_initial=False)
        self._until = until

    async def pass_line(self, line: bytes) -> list[bytes]:
        """Wait until the server has caught up; then pass the line."""
        await self._wait_until(self._until)
        return await super().pass_line(line)
