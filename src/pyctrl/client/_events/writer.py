"""Background writer of the events of all recorders, with one queue and one task."""

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
RETRY_SECONDS = 10.0  # between tries (defaultSleepDuration), with up to a quarter of jitter
FLUSH_SECONDS = 5.0  # for the remaining events after `ask_to_stop`; other runnables need the grace period too
FLUSH_RETRY_SECONDS = 0.5

#: Errors that do not depend on the event: the server is down or busy, or rejects the credentials.
SERVER_UNAVAILABLE = (ConnectionFailed, ServiceUnavailable, TooManyRequests, Unauthorized, ConfigError)


class _Event(KubernetesObject, group="events.k8s.io", version="v1", kind="Event"):
    """The kind of events, whose fields this module does not interpret."""


class EventWriter:
    """Background writer of Events (``events.k8s.io/v1``) with their series.

        events = EventWriter(client)
        recorder = events.recorder("inventory")
        async with asyncio.TaskGroup() as group:
            group.create_task(events.run())
            recorder.normal(pod, "Counted", "Found a new pod")
            ...
            events.ask_to_stop()

    A manager has one, and gives each controller a recorder. An event repeated within six minutes becomes a series of
    one Event, whose count is written when it has doubled, and after five minutes. `EventCorrelator` combines similar
    messages and limits the events of an object. While the server is unavailable, events wait, up to 1000 new ones;
    further ones are dropped with a warning. An event that fails is tried 12 times in two minutes; a rejected one is not
    tried again. After `ask_to_stop`, `run` writes the remaining events and returns within five seconds.

    Args:
        client: the client for the writes, without a cache.
        host: the name of this instance of the program, by default the host's.
        random: jitters retries, and makes names for events whose object's name is not usable.
    """

    name = "events"  # in the log lines of a manager

    def __init__(self, client: Writer, *, host: str = "", random: Random | None = None) -> None:
        self.host: str = host or socket.gethostname()  # in a cluster the pod's name
        self._client = client
        self._random = random or Random()
        self._backlog = EventBacklog(self._random)
        self._wake, self._stopping = asyncio.Event(), asyncio.Event()
        self._flush_timeout: asyncio.Timeout | None = None
        self._failures = WriteFailureLog()
        self._written = self._refused = 0

    def recorder(self, controller_name: str) -> EventRecorder:
        """Return the recorder of a controller."""
        return EventRecorder(self, controller_name)

    def statistics(self) -> EventStatistics:
        """Return the counts since the start."""
        return self._backlog.statistics(written=self._written, refused=self._refused)

    def add(self, event: RecordedEvent) -> None:
        """Queue a recorded event, without waiting."""
        log.debug(event.message, extra={"type": event.type, "reason": event.reason, "object": str(event.obj.key)})
        self._backlog.add(event, asyncio.get_running_loop().time(), _clock.now())
        self._wake.set()

    def ask_to_stop(self) -> None:
        """Make `run` write the remaining events and return."""
        self._stopping.set()
        self._wake.set()
        if self._flush_timeout is not None:
            self._flush_timeout.reschedule(asyncio.get_running_loop().time() + FLUSH_SECONDS)

    async def run(self) -> None:
        """Write events until `ask_to_stop`, then the remaining ones. If cancelled, the remaining ones are lost."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS if self._stopping.is_set() else None) as self._flush_timeout:
                    await self._write()
        finally:
            self._flush_timeout = None
            if lost := len(self._backlog.schedule):
                log.warning("Stopped before all events were written", extra={"events": lost})

    async def _write(self) -> None:
        schedule, loop = self._backlog.schedule, asyncio.get_running_loop()
        while True:
            is_flushing = self._stopping.is_set()
            series = schedule.take(inf if is_flushing else loop.time())
            if series is not None:
                await self._attempt(series)
            elif is_flushing:
                return
            else:
                self._wake.clear()
                await _wait_until(self._wake, schedule.next_at)

    async def _attempt(self, series: PendingEvent) -> None:
        """Write an event, and on failure retry it or give it up."""
        count, verb = series.count, "patch" if series.is_created else "create"
        series.tries += 1
        try:
            await self._send(series)
        except asyncio.CancelledError:
            self._backlog.schedule.put(series, 0.0)  # counted as not written
            raise
        except SERVER_UNAVAILABLE as error:
            await self._hold(series, error)
        except (PyctrlError, ValueError, TypeError) as error:
            if self._may_retry(series, error):
                self._backlog.schedule.put(series, self._retry_at())
                return
            self._refused += 1
            self._failures.refused(verb, series.namespace, series.name, error)
            self._settle(series, count)
        else:
            self._written += 1
            self._failures.accepted(verb, series.namespace, waiting=len(self._backlog.schedule))
            self._settle(series, count)

    async def _send(self, series: PendingEvent) -> None:
        if series.is_created:
            try:
                return await self._count_up(series)
            except NotFound:
                series.is_created = False  # clusters keep events for an hour
        await self._create(series)

    async def _count_up(self, series: PendingEvent) -> None:
        patch = MergePatch({"series": series.series()})
        await self._client.patch(_Event, Key(series.namespace, series.name), patch)

    async def _create(self, series: PendingEvent) -> None:
        while not series.is_created:
            try:
                await self._client.create(_Event.from_wire(series.to_wire()))
            except AlreadyExists:
                if series.tries > 1:  # created by an earlier try whose response was lost
                    series.is_created = True
                    return await self._count_up(series) if series.count > 1 else None
                # another program recorded an event of this object at the same time
                series.name = self._backlog.new_name(series.content["regarding"].get("name", ""), _clock.now())
            else:
                series.is_created = True

    def _settle(self, series: PendingEvent, count: int) -> None:
        now = asyncio.get_running_loop().time()
        series.settle(count, now)
        self._backlog.plan(series, now)

    async def _hold(self, series: PendingEvent, error: Exception) -> None:
        """Pause all writes while the server is unavailable. The event stays the first in the queue."""
        series.tries -= 1  # the failure does not count
        self._backlog.schedule.put(series, 0.0)
        self._failures.away(error)
        if self._stopping.is_set():
            await asyncio.sleep(FLUSH_RETRY_SECONDS)
        else:
            await _wait_until(self._stopping, self._retry_at())

    def _may_retry(self, series: PendingEvent, error: Exception) -> bool:
        may_retry = isinstance(error, TransportError) or (isinstance(error, ApiError) and error.may_retry)
        return may_retry and series.tries < TRIES and not self._stopping.is_set()

    def _retry_at(self) -> float:
        return asyncio.get_running_loop().time() + RETRY_SECONDS * self._random.uniform(1.0, 1.25)


async def _wait_until(event: asyncio.Event, until: float | None) -> None:
    """Wait for an event, at most until a loop time."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(until):
            await event.wait()
