"""The network between one operator process and the server, with the delays of a healthy network."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import Random

from pyctrl.client import HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.errors import StreamBroken
from tests.simulation._births import Births
from tests.simulation._trace import Trace

LATENCIES = (0.01, 0.05, 0.3)  # seconds at most, each way; one for each process
LAGS = (0.0, 0.0, 0.02, 0.2, 1.0)  # seconds at most between two events; one for each stream: caches are stale


class Wire:
    """The server's end of the network: delays both directions; its streams lag and can be broken."""

    def __init__(self, inner: Transport, random: Random, births: Births) -> None:
        self._inner, self._random, self._births = inner, random, births
        self._open: dict[asyncio.Timeout, None] = {}
        self._latency = random.choice(LATENCIES)

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Transmit a request and its response."""
        await self._travel()
        response = await self._inner.request(request)
        if request.method == "POST" and response.status == 201:
            self._births.happened(response.body)
        await self._travel()
        return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Transmit a request; its streamed response lags and is split."""
        await self._travel()
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            yield _LaggingStream(stream, self._random, self._open)

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""

    def tear(self) -> None:
        """Break all open streams."""
        now = asyncio.get_running_loop().time()
        for limit in self._open:
            if not limit.expired():
                limit.reschedule(now)

    async def _travel(self) -> None:
        await asyncio.sleep(self._random.uniform(0.0, self._latency))


class _LaggingStream:
    """Delivers the chunks of another stream later and split at arbitrary points."""

    def __init__(self, inner: HttpStream, random: Random, torn: dict[asyncio.Timeout, None]) -> None:
        self.status, self.headers = inner.status, inner.headers
        self._chunks, self._random, self._torn = inner.chunks(), random, torn
        self._pieces: deque[bytes] = deque()
        self._lag = random.choice(LAGS)

    async def read(self) -> bytes:
        """Return the rest of the body."""
        return b"".join([piece async for piece in self])

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the chunks."""
        return self

    def __aiter__(self) -> _LaggingStream:
        return self

    async def __anext__(self) -> bytes:
        while not self._pieces:
            chunk = await self._next()
            if chunk is None:
                raise StopAsyncIteration
            cut = self._random.randrange(len(chunk) + 1)
            self._pieces.extend(piece for piece in (chunk[:cut], chunk[cut:]) if piece)
        return self._pieces.popleft()

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(None) as limit:
                self._torn[limit] = None
                try:
                    chunk = await anext(self._chunks, None)
                    await asyncio.sleep(self._random.uniform(0.0, self._lag))
                finally:
                    self._torn.pop(limit, None)
        except TimeoutError as error:
            raise StreamBroken("the wire was torn") from error
        return chunk


class Socket:
    """The operator's end of the network: records requests and responses, and dies with its process.

    A dead socket neither sends nor receives: actions of the process during its teardown have no effect.
    """

    def __init__(self, inner: Transport, name: str, trace: Trace, births: Births) -> None:
        self._inner, self._name, self._trace, self._births = inner, name, trace, births
        self._is_dead = False

    def cut(self) -> None:
        """Disconnect for good."""
        self._is_dead = True

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request."""
        await self._wait_if_dead()
        try:
            response = await self._inner.request(request)
        except Exception as error:
            self._trace.count_vain_request()
            self._trace.say(f"{self._name} {_shown(request)} → {type(error).__name__}")
            raise
        await self._wait_if_dead()
        # 404 to a write is due to a stale read, and may repeat until the read is up to date
        if request.method == "GET" or (response.status >= 400 and response.status != 404):
            self._trace.count_vain_request()
        if request.method == "POST" and response.status == 201:
            self._births.answered(response.body)
        self._trace.say(f"{self._name} {_shown(request)} → {response.status}")
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request with a streamed response."""
        return self._stream(request, idle_timeout)

    @asynccontextmanager
    async def _stream(self, request: HttpRequest, idle_timeout: float | None) -> AsyncIterator[HttpStream]:
        await self._wait_if_dead()
        self._trace.count_vain_request()
        try:
            async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
                self._trace.say(f"{self._name} WATCH {_shown(request)} → {stream.status}")
                yield stream
        except Exception as error:
            self._trace.say(f"{self._name} WATCH {_shown(request)} ended: {type(error).__name__}")
            raise

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""

    async def _wait_if_dead(self) -> None:
        if self._is_dead:
            await asyncio.get_running_loop().create_future()


def _shown(request: HttpRequest) -> str:
    query = dict(request.query)
    told = [f"{name}={query[name]}" for name in ("resourceVersion", "limit", "sendInitialEvents") if name in query]
    return " ".join([str(request), *told])
