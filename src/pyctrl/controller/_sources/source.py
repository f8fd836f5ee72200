"""The base class of sources, the source of a program's own messages, and the periodic source."""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import timedelta
from random import Random
from typing import Any, Generic

from typing_extensions import TypeVar

from pyctrl._time_slices import TimeSlice
from pyctrl.api import GroupVersionKind
from pyctrl.controller._causes import ChangeCause, ReconcileCause, TriggerCause
from pyctrl.controller._handlers import Requests
from pyctrl.controller._options import Absence
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.request_sinks import RequestSink
from pyctrl.rbac import Permission

__all__ = ["ChannelSource", "Source", "TickSource", "add_all"]

log = logging.getLogger("pyctrl.controller")

M = TypeVar("M", default=Request)


class Source(ABC):
    """A source of requests, which adds them to the queue of a controller while the controller runs.

    A source of your own implements `run`, and sets `synced` once it has added the requests for everything that exists:
    the controller starts its workers when all sources are synced. `run` may be called again, with `synced` cleared,
    after it was cancelled or has raised. Log lines show the causes that it passes to ``queue.add``. It shares the event
    loop with everything else: a loop in `run` must await something, if only ``asyncio.sleep(0)``.
    """

    def __init__(self) -> None:
        #: Set when the requests for everything that exists have been added.
        self.synced: asyncio.Event = asyncio.Event()

    @abstractmethod
    async def run(self, queue: RequestSink) -> None:
        """Add requests until cancelled. It is restarted after it raises, but not after it returns."""

    async def wait_until_ready(self) -> None:
        """Wait until the source is synced, or the controller need not wait for it."""
        await self.synced.wait()

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that the source needs."""
        return ()

    @property
    def follows(self) -> Collection[GroupVersionKind]:
        """The kinds whose changes it adds requests for: a read of one of them causes no warning."""
        return ()

    def problem(self) -> str | None:
        """Return why it is not synced or not up to date; None when nothing is known."""
        return None

    @property
    def is_refused(self) -> bool:
        """Whether the problem is a missing permission, for which a controller waits without a limit."""
        return False

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about another cluster than the controller's, for which a controller waits without a limit."""
        return False

    @property
    def is_absent(self) -> bool:
        """Whether the problem is a kind that the cluster does not serve."""
        return False

    @property
    def is_failing(self) -> bool:
        """Whether the problem is a failure, not only a slow start."""
        return False

    @property
    def absence(self) -> Absence:
        """How the controller takes it when the source `is_absent`."""
        return Absence.FAULT

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Return whether a change that it reported was made by this process; for metrics."""
        return False

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the JSON of the object of a change as it is now; None when it is unknown."""
        return None

    def __str__(self) -> str:
        return type(self).__name__


class ChannelSource(Source, Generic[M]):
    """The messages of the program itself: a webhook call, a changed file, an event of another system.

    A handler maps messages to requests; without one the messages are requests. Before the controller runs, as on a
    replica that is not elected, up to ``size`` messages are kept. Then `send` waits and `send_nowait` raises
    `asyncio.QueueFull`.
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
        """Send a message. Waits while the buffer is full."""
        await self._messages.put(message)

    def send_nowait(self, message: M) -> None:
        """Send a message without waiting.

        Raises:
            asyncio.QueueFull: the controller does not run yet, and ``size`` messages are kept.
        """
        self._messages.put_nowait(message)

    async def run(self, queue: RequestSink) -> None:
        """Add the requests of each message. When the handler fails, the error is logged and the message is lost."""
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
    """A periodic source: adds the same requests, or those that a function returns, at start and in each ``period``.

    Each period is spread by ``jitter``, a share of it, so that replicas and controllers do not tick together. When the
    function fails, the error is logged, and it is called again at the next tick.
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
            raise ValueError(f"the period must be positive, got {period}")
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
            log.exception("A tick failed, its requests are lost", extra={"source": str(self)})
            return ()

    def __str__(self) -> str:
        return f"tick source: {self.name} every {self._period}"


async def add_all(queue: RequestSink, requests: Iterable[Request], *, cause: ReconcileCause, priority: int = 0) -> None:
    """Add requests a time slice at a time. Also a call without requests counts as a step."""
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
