"""The simulated network: one `NetworkLink` for each process, whose requests take time and whose watches lag.

A request is carried by a task of the network. So it arrives although its sender freezes or dies.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError
from pyctrl.simulation._history import Sent
from pyctrl.simulation._loop import simulation_loop

__all__ = ["Network", "NetworkLink", "StreamFilter", "requester"]

#: The process whose request the server executes, and the write; "" for the cluster's own controllers.
requester: ContextVar[tuple[str, Sent | None]] = ContextVar("pyctrl_simulated_requester", default=("", None))


@dataclass(slots=True)
class Network:
    """How fast a healthy network is. A request always takes time, so a program that loops over requests ends.

    Attributes:
        latency: Seconds that a request or an answer is under way at most; at least a tenth of it.
        lag: Seconds that an event of a watch is under way at most, besides the latency.
    """

    latency: float = 0.01
    lag: float = 0.02

    def draw_latency(self, random: Random) -> float:
        """Return the seconds that one message is under way."""
        return random.uniform(self.latency / 10, self.latency)

    def draw_lag(self, random: Random) -> float:
        """Return the seconds that one event is under way."""
        return random.uniform(self.latency / 10, self.lag)


class StreamFilter(Protocol):
    """Handles the lines of one stream on their way to the process."""

    def connect(self, push: Callable[[bytes], None]) -> None:
        """Take the function that delivers bytes, for lines that are delivered later."""
        ...

    async def pass_line(self, line: bytes) -> list[bytes]:
        """Return the lines to deliver instead of one; it may wait, and then all later lines wait as well.

        Raises:
            TransportError: The stream breaks here.
        """
        ...


@dataclass(slots=True, eq=False)
class NetworkLink:
    """The connection of one process to the API server.

    Attributes:
        process: The name of the process; "user" for the scenario's client.
        server: The transport to the server.
        network: The speed of the network.
        random: Draws latencies.
        is_cut: Nothing gets through: new requests fail, or are never answered if `is_silent`.
        is_silent: A cut link loses packets instead of refusing connections.
        slowness: Additional seconds for every message.
        lag: Additional seconds for every event of a watch.
        loss: The share of answers that are lost; the requests had their effect.
        request_loss: The share of requests that are lost on their way, without effect.
    """

    process: str
    server: Transport
    network: Network
    random: Random
    is_cut: bool = False
    is_silent: bool = False
    slowness: float = 0.0
    lag: float = 0.0
    loss: float = 0.0
    request_loss: float = 0.0
    _pumps: dict[asyncio.Task[None], _Pipe] = field(default_factory=dict)
    _under_way: dict[asyncio.Task[None], None] = field(default_factory=dict)

    def cut(self, *, silent: bool = False) -> None:
        """Disconnect: open streams break (or fall silent), and new requests fail."""
        self.is_cut, self.is_silent = True, silent
        if not silent:
            self.tear()

    def heal(self) -> None:
        """Make it a healthy link again."""
        self.is_cut = self.is_silent = False
        self.slowness = self.lag = self.loss = self.request_loss = 0.0

    def tear(self) -> None:
        """Break all open streams."""
        for pump, pipe in list(self._pumps.items()):
            pump.cancel()
            pipe.fail(StreamBroken("simulation: the connection was torn"))

    def close(self) -> None:
        """End all streams, as the kernel does for a process that died. Requests under way still arrive."""
        for pump in list(self._pumps):
            pump.cancel()

    # -- requests ----------------------------------------------------------------------------------------------

    async def exchange(
        self,
        request: HttpRequest,
        sent: Sent | None = None,
        *,
        lose_answer: bool = False,
        executed: Callable[[HttpResponse], None] | None = None,
    ) -> HttpResponse:
        """Send a request and return the response.

        Args:
            request: The request.
            sent: The entry of a write; the world notes its effect there.
            lose_answer: The server executes it, but the connection breaks before its answer arrives.
            executed: Called when the server has executed it; then there is no answer.

        Raises:
            ConnectionFailed: The link is cut.
            StreamBroken: The answer was lost.
            RequestTimeout: There was no answer in time.
        """
        answer: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()
        carrying = self._carry(request, answer, sent, executed, lose_answer=lose_answer)
        self._start(carrying, f"request of {self.process}")
        return await self.wait_for(answer, request)

    async def wait_for(self, answer: asyncio.Future[HttpResponse], request: HttpRequest) -> HttpResponse:
        """Wait for an answer for as long as the request may take."""
        try:
            async with asyncio.timeout(request.timeout):
                return await answer
        except TimeoutError as error:
            raise RequestTimeout(f"simulation: no answer to {request} within {request.timeout:g} s") from error

    async def travel(self) -> None:
        """Wait for as long as a message is under way."""
        await asyncio.sleep(self.network.draw_latency(self.random) + self.slowness)

    def _start(self, coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = simulation_loop().start_task("", coroutine, name)
        self._under_way[task] = None
        task.add_done_callback(lambda done: self._under_way.pop(done, None))
        return task

    async def _carry(
        self,
        request: HttpRequest,
        answer: asyncio.Future[HttpResponse],
        sent: Sent | None,
        executed: Callable[[HttpResponse], None] | None,
        *,
        lose_answer: bool,
    ) -> None:
        await self.travel()
        if self.is_cut or (self.request_loss and self.random.random() < self.request_loss):
            return self._refuse(answer, request)
        requester.set((self.process, sent))  # of this task only
        try:
            response = await self.server.request(request)
        except TransportError as error:
            return _fail(answer, error)
        if executed is not None:
            return executed(response)
        await self.travel()
        if lose_answer or self._is_cut_now() or (self.loss and self.random.random() < self.loss):
            return None if self.is_silent else _fail(answer, StreamBroken(f"simulation: answer to {request} lost"))
        if not answer.done():
            answer.set_result(response)

    def _is_cut_now(self) -> bool:
        """Return whether it is cut; a request may take some time."""
        return self.is_cut

    def _refuse(self, answer: asyncio.Future[Any], request: HttpRequest) -> None:
        if not self.is_silent:
            _fail(answer, ConnectionFailed(f"simulation: no connection for {request}"))

    # -- streams -----------------------------------------------------------------------------------------------

    def stream(
        self, request: HttpRequest, filter_: StreamFilter, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Open a stream whose lines pass a filter."""
        return self._stream(request, filter_, idle_timeout)

    @asynccontextmanager
    async def _stream(
        self, request: HttpRequest, filter_: StreamFilter, idle_timeout: float | None
    ) -> AsyncIterator[HttpStream]:
        head: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()
        pipe = _Pipe(request, idle_timeout)
        filter_.connect(pipe.push)
        pump = self._start(self._pump(request, head, pipe, filter_), f"stream of {self.process}")
        self._pumps[pump] = pipe
        pump.add_done_callback(lambda done: self._pumps.pop(done, None))
        try:
            try:
                async with asyncio.timeout(request.head_timeout):
                    response = await head
            except TimeoutError as error:
                raise RequestTimeout(f"simulation: no answer to {request}") from error
            pipe.status, pipe.headers = response.status, response.headers
            yield pipe
        finally:
            pump.cancel()

    async def _pump(
        self, request: HttpRequest, head: asyncio.Future[HttpResponse], pipe: _Pipe, filter_: StreamFilter
    ) -> None:
        await self.travel()
        if self.is_cut:
            return self._refuse(head, request)
        try:
            async with self.server.stream(request) as stream:
                await self.travel()
                if not head.done():
                    head.set_result(HttpResponse(status=stream.status, headers=stream.headers, body=b""))
                if stream.status != 200:
                    pipe.push(await stream.read())
                else:
                    await self._pump_lines(stream, pipe, filter_)
                pipe.end()
        except TransportError as error:
            _fail(head, error)
            pipe.fail(error)

    async def _pump_lines(self, stream: HttpStream, pipe: _Pipe, filter_: StreamFilter) -> None:
        rest = b""
        async for chunk in stream.chunks():
            await asyncio.sleep(self.network.draw_lag(self.random) + self.slowness + self.lag)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                passed = await filter_.pass_line(line)
                if passed and not (self.is_cut and self.is_silent):
                    pipe.push(b"".join(each + b"\n" for each in passed))


class _Pipe:
    """`HttpStream` of the chunks that a pump pushes."""

    def __init__(self, request: HttpRequest, idle_timeout: float | None) -> None:
        self.status = 0
        self.headers = Headers(())
        self._request, self._idle_timeout = request, idle_timeout
        self._chunks: deque[bytes] = deque()
        self._error: TransportError | None = None
        self._has_ended = False
        self._waiter: asyncio.Future[None] | None = None

    def push(self, chunk: bytes) -> None:
        """Add a chunk."""
        if chunk:
            self._chunks.append(chunk)
            self._wake()

    def end(self) -> None:
        """End after the chunks that were pushed."""
        self._has_ended = True
        self._wake()

    def fail(self, error: TransportError) -> None:
        """Drop what was not read, and raise an error to the reader."""
        if not self._has_ended and self._error is None:
            self._error = error
            self._chunks.clear()
            self._wake()

    async def read(self) -> bytes:
        """Return the rest of the body."""
        return b"".join([chunk async for chunk in self])

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the chunks."""
        return self

    def __aiter__(self) -> _Pipe:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self._has_ended:
                raise StopAsyncIteration
            await self._wait()
        return self._chunks.popleft()

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._idle_timeout):
                await self._waiter
        except TimeoutError as error:
            raise RequestTimeout(f"simulation: {self._request} was silent for {self._idle_timeout} s") from error
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _fail(answer: asyncio.Future[Any], error: TransportError) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # marks it as retrieved: a sender that died never does
