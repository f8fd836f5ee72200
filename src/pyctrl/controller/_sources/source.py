"""Where requests come from: changes of a kind, the program's own messages, the passing of time."""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from random import Random
from typing import Any, Generic

from typing_extensions import TypeVar

from pyctrl._time_slices import TimeSlice
from pyctrl.controller._causes import Cause, ChangeCause, TriggerCause
from pyctrl.controller._handlers import Requests
from pyctrl.controller._options import Absence
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.request_sinks import RequestSink
from pyctrl.rbac import Permission

__all__ = ["ChannelSource", "Source", "TickSource", "add_all"]

log = logging.getLogger("pyctrl.controller")

M = TypeVar("M", default=Request)


class Source(ABC):
    """Something that fills the queue of a controller for as long as the controller runs.

    A source of your own has `run`, and sets `synced` once it has delivered what is there already: the controller
    reconciles nothing before all its sources have. `run` may be called again after it was cancelled or has raised,
    with `synced` cleared. Causes that it gives with ``queue.add`` are what logs tell. It shares the event loop with
    everything else: a loop in `run` must wait now and then, with ``await asyncio.sleep(0)`` if for nothing else.
    """

    def __init__(self) -> None:
        #: Set when what is there already has been delivered.
        self.synced: asyncio.Event = asyncio.Event()

    @abstractmethod
    async def run(self, queue: RequestSink) -> None:
        """Add requests until cancelled. When it raises it is run again, a little later; returning early is fine."""

    async def wait_until_ready(self) -> None:
        """Wait until it has delivered what is there, or need not be waited for."""
        await self.synced.wait()

    @property
    def rbac(self) -> Sequence[Permission]:
        """What it takes to run it; nothing, unless it asks the API server."""
        return ()

    def problem(self) -> str | None:
        """Return what keeps it from being synced or up to date, as far as it knows."""
        return None

    @property
    def is_refused(self) -> bool:
        """Whether that trouble is a missing right: a controller waits for it as long as it takes."""
        return False

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about another cluster than the controller's: a controller waits for it as long as it takes."""
        return False

    @property
    def is_absent(self) -> bool:
        """Whether that trouble is a kind that the cluster does not serve."""
        return False

    @property
    def is_failing(self) -> bool:
        """Whether that trouble is a failure, and not only that it takes its time."""
        return False

    @property
    def absence(self) -> Absence:
        """What it means to the controller when `is_absent`."""
        return Absence.FAULT

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Whether a change that it told of is one that this process made; for metrics."""
        return False

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the object of a change as this process sees it now, in JSON; None when it does not know."""
        return None

    def __str__(self) -> str:
        return type(self).__name__


class ChannelSource(Source, Generic[M]):
    """Messages of the program itself: a web hook that was called, a file that changed, another system's event.

    Without a handler messages are requests. Sending never blocks the loop. Before the controller runs (it may wait to
    be elected) messages are kept, up to ``size``; then `send` waits and `send_nowait` raises `asyncio.QueueFull`.
    """

    def __init__(
        self,
        handler: Callable[[M], Requests] | None = None,
        *,
        name: str = "channel",
        size: int = 1024,
        priority: int = 0,
    ) -> None:
        super().__init__()
        self.name = name
        self._handler = handler
        self._priority = priority
        self._messages: asyncio.Queue[M] = asyncio.Queue(size)

    async def send(self, message: M) -> None:
        """Hand a message over, waiting while the buffer is full."""
        await self._messages.put(message)

    def send_nowait(self, message: M) -> None:
        """Hand a message over.

        Raises:
            asyncio.QueueFull: the controller does not run yet, and ``size`` messages wait for it.
        """
        self._messages.put_nowait(message)

    async def run(self, queue: RequestSink) -> None:
        """Add the requests of each message. A handler that fails is logged and costs that message only."""
        self.synced.set()
        while True:
            message = await self._messages.get()
            try:
                requests = await _settled(self._handler(message)) if self._handler else [_as_request(message)]
            except Exception:
                log.exception("A handler failed, its message is lost", extra={"source": str(self)})
                continue
            await add_all(queue, requests, cause=TriggerCause(self.name), priority=self._priority)

    def __str__(self) -> str:
        return f"channel source: {self.name}"


class TickSource(Source):
    """Time: adds the same requests, or those a function names then, now and once in every ``period``.

    Each period is spread by ``jitter`` (a share of it), so that replicas and controllers do not tick together. A
    function that fails is logged and asked again at the next tick.
    """

    def __init__(
        self,
        period: timedelta,
        requests: Sequence[Request] | Callable[[], Requests],
        *,
        name: str = "tick",
        jitter: float = 0.1,
        priority: int = 0,
        random: Random | None = None,
    ) -> None:
        super().__init__()
        if period <= timedelta(0):
            raise ValueError(f"a period must be longer than nothing, got {period}")
        self.name = name
        self._period = period
        self._requests = requests
        self._jitter = jitter
        self._priority = priority
        self._random = random or Random()

    async def run(self, queue: RequestSink) -> None:
        """Tick until cancelled."""
        while True:
            await add_all(queue, await self._named(), cause=TriggerCause(self.name), priority=self._priority)
            self.synced.set()
            spread = self._random.uniform(1 - self._jitter, 1 + self._jitter)
            await asyncio.sleep(self._period.total_seconds() * spread)

    async def _named(self) -> Iterable[Request]:
        if not callable(self._requests):
            return self._requests
        try:
            return await _settled(self._requests())
        except Exception:
            log.exception("A tick could not name its requests", extra={"source": str(self)})
            return ()

    def __str__(self) -> str:
        return f"tick source: {self.name} every {self._period}"


async def add_all(queue: RequestSink, requests: Iterable[Request], *, cause: Cause, priority: int = 0) -> None:
    """Add requests a time slice at a time. Each call is a step of its own: so are many calls without any requests."""
    slice_ = TimeSlice.current()
    for request in requests:
        queue.add(request, priority=priority, cause=cause)
        await slice_.step()
    await slice_.step()


async def _settled(requests: Requests) -> Iterable[Request]:
    return await requests if inspect.isawaitable(requests) else requests


def _as_request(message: Any) -> Request:
    if not isinstance(message, Request):
        raise TypeError(f"expected a Request (or give ChannelSource a handler), got {message!r}")
    return message
