"""The write gate: each try of a request passes it, and the tries of the transport do, too."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.client import Headers, HttpRequest, HttpResponse
from pyctrl.client._transport.leader_gate import check_gates, gated_context, write_gates
from pyctrl.errors import ConnectionFailed, NotLeading
from tests.unit.client.transport.test_retry import OK, Script, Widget, answer, client

PUT = HttpRequest(method="PUT", path="/x", headers=Headers(()), body=b"{}", timeout=5)


class Gate:
    """A gate that closes when `is_open` says so."""

    def __init__(self, is_open: Callable[[], bool]) -> None:
        self.is_open = is_open
        self.answers: list[asyncio.Task[Any]] = []

    def check(self, request: HttpRequest) -> None:
        if not self.is_open():
            raise NotLeading(f"{request} was not sent")

    def sent(self, answer: asyncio.Task[Any]) -> None:
        self.answers.append(answer)


@contextmanager
def gated(is_open: Callable[[], bool] = lambda: True) -> Iterator[Gate]:
    gate = Gate(is_open)
    token = write_gates.set((gate,))
    try:
        yield gate
    finally:
        write_gates.reset(token)


@pytest.mark.parametrize("first", [answer(429, "5"), answer(503, "1"), ConnectionFailed("refused")])
async def test_a_wait_that_outlasts_the_lease(first: Exception) -> None:
    """A write whose lease expires during Retry-After or backoff is not sent again; a read is."""
    for send, tries in (("update", 1), ("delete", 1), ("get", 2)):
        script = Script(first, answer(200))
        with gated(lambda script=script: not script.times):  # type: ignore[misc]
            if send == "get":
                await client(script).get(Widget, Key("default", "a"))
            else:
                with pytest.raises(NotLeading):
                    await getattr(client(script), send)(Widget.from_wire(OK))
        assert len(script.times) == tries, send


class Slow(Script):
    """A transport whose requests wait for a connection, and then for their answer."""

    def __init__(self) -> None:
        super().__init__()
        self.connected, self.answered = asyncio.Event(), asyncio.Event()

    async def request(self, request: HttpRequest) -> HttpResponse:
        await self.connected.wait()
        check_gates(request)
        self.times.append(asyncio.get_running_loop().time())
        await self.answered.wait()
        return answer(200)


async def test_a_write_that_was_sent_is_not_over_when_its_caller_is_cancelled() -> None:
    """The server may still execute it: the gates learn of its answer, when it comes."""
    slow = Slow()
    slow.connected.set()
    with gated() as gate:
        caller = asyncio.create_task(client(slow).update(Widget.from_wire(OK)))
        await asyncio.sleep(1)
        caller.cancel()
        await asyncio.wait([caller])
    assert caller.cancelled()
    (write,) = gate.answers
    assert not write.done()
    slow.answered.set()
    assert (await write).status == 200


async def test_a_write_whose_caller_is_cancelled_before_is_not_sent() -> None:
    """A write that still waits for a connection when its caller is cancelled never reaches the server."""
    slow = Slow()
    with gated() as gate:
        caller = asyncio.create_task(client(slow).update(Widget.from_wire(OK)))
        await asyncio.sleep(1)
        caller.cancel()
        await asyncio.wait([caller])
    slow.connected.set()
    (write,) = gate.answers
    with pytest.raises(NotLeading, match=r"was not sent: it was cancelled"):
        await write
    assert slow.times == []


async def test_the_error_of_a_write_without_a_caller_is_not_reported() -> None:
    """A write that fails after its caller was cancelled leaves no "Task exception was never retrieved" in the log."""
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    refused = asyncio.Event()

    class Broken(Script):
        async def request(self, request: HttpRequest) -> HttpResponse:
            await refused.wait()
            raise ConnectionFailed("refused")

    with gated() as gate:
        caller = asyncio.create_task(client(Broken()).update(Widget.from_wire(OK)))
        await asyncio.sleep(1)
        caller.cancel()
        await asyncio.wait([caller])
    refused.set()
    await asyncio.wait(gate.answers)
    gate.answers.clear()
    del caller  # its traceback refers to the write
    gc.collect()
    assert unhandled == []


async def test_reads_are_cancelled_with_their_caller() -> None:
    """A read has no effect, so no gate waits for it."""
    slow = Slow()
    with gated() as gate:
        caller = asyncio.create_task(client(slow).get(Widget, Key("default", "a")))
        await asyncio.sleep(1)
        caller.cancel()
        await asyncio.wait([caller])
    assert gate.answers == []


def test_gates_add_up() -> None:
    """Work that is gated within gated work must pass both gates; the context outside has none."""
    asked: list[str] = []

    def gate(name: str) -> Gate:
        def is_open() -> bool:
            asked.append(name)
            return True

        return Gate(is_open)

    inner = gated_context(gate("inner"), gated_context(gate("outer"), copy_context()))
    inner.run(check_gates, PUT)
    check_gates(PUT)

    assert asked == ["outer", "inner"]
