"""Writing events in the background, for all recorders of a program: one queue, one task."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from math import inf
from random import Random

from pyctrl import _clock
from pyctrl.api import Key, KubernetesObject
from pyctrl.client._events.backlog import EventBacklog, EventStatistics, RecordedEvent
from pyctrl.client._events.failure_log import WriteFailureLog
from pyctrl.client._events.recorder import EventRecorder
from pyctrl.client._events.series import PendingEvent
from pyctrl.client._interfaces import Writer
from pyctrl.client._requests.patch import MergePatch
from pyctrl.errors import (
    AlreadyExists,
    ApiError,
    ConfigError,
    ConnectionFailed,
    NotFound,
    PyctrlError,
    ServiceUnavailable,
    TooManyRequests,
    TransportError,
    Unauthorized,
)

__all__ = ["EventWriter"]

log = logging.getLogger("pyctrl.events")

TRIES = 12  # of one event (maxTriesPerEvent of client-go's tools/events)
RETRY_SECONDS = 10.0  # between them (defaultSleepDuration), and up to a quarter more, so that not all come at once
FLUSH_SECONDS = 5.0  # what writing the rest may take after being asked to stop; the grace period is for others too
FLUSH_RETRY_SECONDS = 0.5

#: Nothing is wrong with the event: the server is away, or busy, or does not know us at the moment.
SERVER_UNAVAILABLE = (ConnectionFailed, ServiceUnavailable, TooManyRequests, Unauthorized, ConfigError)


class _Event(KubernetesObject, group="events.k8s.io", version="v1", kind="Event"):
    """Where events are served; what they consist of is only passed on."""


class EventWriter:
    """Writes what its recorders are told, in the background: Events of ``events.k8s.io/v1``, with their series.

        events = EventWriter(client)
        recorder = events.recorder("inventory")
        async with asyncio.TaskGroup() as group:
            group.create_task(events.run())
            recorder.normal(pod, "Counted", "Found a new pod")
            ...
            events.ask_to_stop()

    A manager has one, and gives each controller its recorder. What is told again within six minutes becomes a series of
    one Event, whose count is written when it has doubled, and after five minutes. Similar messages are combined and
    objects limited as `EventCorrelator` says. While the server is away all events wait, up to 1000 new ones; further
    ones are dropped, which the log says. An event that the server fails to take is tried 12 times in two minutes; one
    that it refuses is not tried again. Once asked to stop, `run` writes what waits, and returns after five seconds
    at the latest.

    Args:
        client: what to write with; a live one, as nobody reads events from a cache.
        host: the name of this instance of the program, by default the host's.
        random: spreads retries, and makes names where an object has none that fits.
    """

    name = "events"  # in the log lines of a manager

    def __init__(self, client: Writer, *, host: str = "", random: Random | None = None) -> None:
        self.host: str = host or socket.gethostname()  # in a cluster the pod's name
        self._client = client
        self._random = random or Random()
        self._backlog = EventBacklog(self._random)
        self._wake, self._stopping = asyncio.Event(), asyncio.Event()
        self._patience: asyncio.Timeout | None = None
        self._complaints = WriteFailureLog()
        self._written = self._refused = 0

    def recorder(self, controller_name: str) -> EventRecorder:
        """Return a recorder that tells in the name of a controller."""
        return EventRecorder(self, controller_name)

    def statistics(self) -> EventStatistics:
        """Return what became of events since the beginning."""
        return self._backlog.statistics(written=self._written, refused=self._refused)

    def tell(self, told: RecordedEvent) -> None:
        """Take in what a recorder was told, without waiting."""
        log.debug(told.message, extra={"type": told.type, "reason": told.reason, "object": str(told.obj.key)})
        self._backlog.take_in(told, asyncio.get_running_loop().time(), _clock.now())
        self._wake.set()

    def ask_to_stop(self) -> None:
        """Write what waits, and return from `run`."""
        self._stopping.set()
        self._wake.set()
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time() + FLUSH_SECONDS)

    async def run(self) -> None:
        """Write until asked to stop, then write the rest. When it is cancelled, what waits is lost."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS if self._stopping.is_set() else None) as self._patience:
                    await self._write()
        finally:
            self._patience = None
            if lost := len(self._backlog.schedule):
                log.warning("Events were not written before the end", extra={"events": lost})

    async def _write(self) -> None:
        schedule, loop = self._backlog.schedule, asyncio.get_running_loop()
        while True:
            is_last_chance = self._stopping.is_set()
            series = schedule.take(inf if is_last_chance else loop.time())
            if series is not None:
                await self._attempt(series)
            elif is_last_chance:
                return
            else:
                self._wake.clear()
                await _wait_until(self._wake, schedule.next_at)

    async def _attempt(self, series: PendingEvent) -> None:
        """Write an event, or decide what becomes of it."""
        count, verb = series.count, "patch" if series.is_created else "create"
        series.tries += 1
        try:
            await self._send(series)
        except asyncio.CancelledError:
            self._backlog.schedule.put(series, 0.0)  # it counts as one that was not written
            raise
        except SERVER_UNAVAILABLE as error:
            await self._hold(series, error)
        except (PyctrlError, ValueError, TypeError) as error:
            if self._can_help_to_retry(series, error):
                self._backlog.schedule.put(series, self._retry_at())
                return
            self._refused += 1
            self._complaints.refused(verb, series.namespace, series.name, error)
            self._settle(series, count)
        else:
            self._written += 1
            self._complaints.accepted(verb, series.namespace, waiting=len(self._backlog.schedule))
            self._settle(series, count)

    async def _send(self, series: PendingEvent) -> None:
        if series.is_created:
            try:
                return await self._count_up(series)
            except NotFound:
                series.is_created = False  # a cluster keeps events for an hour
        await self._create(series)

    async def _count_up(self, series: PendingEvent) -> None:
        patch = MergePatch({"series": series.series()})
        await self._client.patch(_Event, Key(series.namespace, series.name), patch)

    async def _create(self, series: PendingEvent) -> None:
        while not series.is_created:
            try:
                await self._client.create(_Event.from_wire(series.to_wire()))
            except AlreadyExists:
                if series.tries > 1:  # made by an earlier try whose answer was lost
                    series.is_created = True
                    return await self._count_up(series) if series.count > 1 else None
                # another program told of this object at the same moment
                series.name = self._backlog.new_name(series.content["regarding"].get("name", ""), _clock.now())
            else:
                series.is_created = True

    def _settle(self, series: PendingEvent, count: int) -> None:
        now = asyncio.get_running_loop().time()
        series.settle(count, now)
        self._backlog.plan(series, now)

    async def _hold(self, series: PendingEvent, error: Exception) -> None:
        """Wait a while for the server, with everything; the first in line stays the first."""
        series.tries -= 1  # it was not looked at
        self._backlog.schedule.put(series, 0.0)
        self._complaints.away(error)
        if self._stopping.is_set():
            await asyncio.sleep(FLUSH_RETRY_SECONDS)
        else:
            await _wait_until(self._stopping, self._retry_at())

    def _can_help_to_retry(self, series: PendingEvent, error: Exception) -> bool:
        may_retry = isinstance(error, TransportError) or (isinstance(error, ApiError) and error.may_retry)
        return may_retry and series.tries < TRIES and not self._stopping.is_set()

    def _retry_at(self) -> float:
        return asyncio.get_running_loop().time() + RETRY_SECONDS * self._random.uniform(1.0, 1.25)


async def _wait_until(event: asyncio.Event, until: float | None) -> None:
    """Wait for something, at most until a moment of the loop's clock."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(until):
            await event.wait()
