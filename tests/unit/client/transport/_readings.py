"""Two ways to read a stream to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from pyctrl.client import HttpStream, deliver

Reading = Callable[[AbstractAsyncContextManager[HttpStream]], Awaitable[None]]


async def by_chunks(opening: AbstractAsyncContextManager[HttpStream]) -> None:
    async with opening as stream:
        async for _ in stream.chunks():
            pass


async def by_delivery(opening: AbstractAsyncContextManager[HttpStream]) -> None:
    async with opening as stream:
        await deliver(stream, lambda _chunk: None)


BOTH: tuple[Reading, ...] = (by_chunks, by_delivery)
