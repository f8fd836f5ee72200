"""Retries of requests: conditions, number and delays."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client, Headers, HttpRequest, HttpResponse, HttpStream, RetryPolicy
from pyctrl.errors import Conflict, ConnectionFailed, RequestTimeout, ServiceUnavailable, StreamBroken, TooManyRequests


class Widget(CustomResource[Model], group="demo.test", version="v1"):
    """A kind."""


KEY = Key("default", "a")
OK = b'{"apiVersion":"demo.test/v1","kind":"Widget","metadata":{"name":"a","namespace":"default"}}'


class Script:
    """A transport with scripted results that records the times of requests."""

    def __init__(self, *line: HttpResponse | Exception) -> None:
        self.line = list(line)
        self.times: list[float] = []

    async def request(self, request: HttpRequest) -> HttpResponse:
        self.times.append(asyncio.get_running_loop().time())
        step = self.line.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def stream(self, request: HttpRequest, *, idle_timeout: Any = None) -> AbstractAsyncContextManager[HttpStream]:
        raise NotImplementedError

    async def aclose(self) -> None: ...

    @property
    def waits(self) -> list[float]:
        return [b - a for a, b in zip(self.times, self.times[1:], strict=False)]


def answer(status: int, wait: str | None = None) -> HttpResponse:
    headers = Headers([("Retry-After", wait)] if wait is not None else [])
    return HttpResponse(status=status, headers=headers, body=OK if status == 200 else b"{}")


def client(script: Script, **policy: Any) -> Client:
    return Client(script, random=Random(3), retries=RetryPolicy(**policy))


@pytest.mark.parametrize("status", [429, 503, 500])
async def test_retry_after(status: int) -> None:
    """A response with Retry-After is retried after that time and a little longer, for writes too."""
    script = Script(answer(status, "2"), answer(200))

    await client(script).update(Widget.from_wire(OK))

    (wait,) = script.waits
    assert 2 <= wait <= 2.2


async def test_clients_do_not_retry_together() -> None:
    """Two clients that get the same Retry-After do not retry at the same moment."""
    scripts = [Script(answer(429, "2"), answer(200)) for _ in range(2)]
    for seed, script in enumerate(scripts):
        await Client(script, random=Random(seed)).get(Widget, KEY)

    assert scripts[0].waits != scripts[1].waits


async def test_zero_does_not_spin() -> None:
    """Retry-After: 0 does not retry without a delay."""
    script = Script(*[answer(429, "0")] * 3, answer(200))

    await client(script).get(Widget, KEY)

    assert all(wait >= 0.1 for wait in script.waits)


async def test_bounded() -> None:
    """After eleven refusals the error is raised, with the server's Retry-After."""
    script = Script(*[answer(429, "1")] * 20)

    with pytest.raises(TooManyRequests) as caught:
        await client(script).get(Widget, KEY)

    assert len(script.times) == 11
    assert caught.value.retry_after == 1


@pytest.mark.parametrize("wait", [None, "Wed, 21 Oct 2026 07:28:00 GMT", "31"])
async def test_passed_on_at_once(wait: str | None) -> None:
    """A refusal without Retry-After in seconds, or with a longer one than the limit, is raised at once."""
    script = Script(answer(503, wait))

    with pytest.raises(ServiceUnavailable):
        await client(script).get(Widget, KEY)
    assert len(script.times) == 1


async def test_other_answers_stand() -> None:
    """A 409 is not retried, whatever its headers."""
    script = Script(answer(409, "1"))

    with pytest.raises(Conflict):
        await client(script).get(Widget, KEY)
    assert len(script.times) == 1


@pytest.mark.parametrize("error", [ConnectionFailed("refused"), StreamBroken("reset")])
async def test_reads_survive_broken_connections(error: Exception) -> None:
    """A read is retried a few times, each after a longer delay."""
    script = Script(error, error, error, answer(200))

    await client(script).get(Widget, KEY)

    assert script.waits[0] < 0.11 < script.waits[2] < 0.41


async def test_a_cluster_that_is_not_there() -> None:
    """A connection that keeps failing raises an error in under a second."""
    script = Script(*[ConnectionFailed("refused")] * 10)

    with pytest.raises(ConnectionFailed):
        await client(script).get(Widget, KEY)
    assert sum(script.waits) < 1


async def test_writes_are_repeated_only_when_nothing_was_sent() -> None:
    """A write is retried only if it was not sent: after a broken connection it may have succeeded."""
    broken, unsent = Script(StreamBroken("reset"), answer(200)), Script(ConnectionFailed("refused"), answer(200))

    with pytest.raises(StreamBroken):
        await client(broken).update(Widget.from_wire(OK))
    await client(unsent).update(Widget.from_wire(OK))

    assert (len(broken.times), len(unsent.times)) == (1, 2)


async def test_timeouts_are_not_repeated() -> None:
    """A read that timed out is not retried."""
    script = Script(RequestTimeout("slow"), answer(200))

    with pytest.raises(RequestTimeout):
        await client(script).get(Widget, KEY)
