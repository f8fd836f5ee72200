"""Gates for the writes of work that needs leader election.

A context variable holds the gates. So they apply to everything that a gated task calls and to every task that it
starts, with any client: a reconciler may use a client that has no election, or one of another cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import Any, Protocol, TypeVar

from pyctrl.client._transport.transport import HttpRequest
from pyctrl.errors import NotLeading

__all__ = ["WriteGate", "check_gates", "gated_context", "send_gated", "write_gates"]

T = TypeVar("T")

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class WriteGate(Protocol):
    """Check whether gated work may write now."""

    def check(self, request: HttpRequest) -> None:
        """Return if this write may be sent.

        Raises:
            NotLeading: it may not.
        """
        ...

    def sent(self, answer: asyncio.Task[Any]) -> None:
        """Note a write that is being sent, and the task that ends with its answer.

        It goes on if gated work is cancelled: until then the server may execute the write.
        """
        ...


#: The gates that the writes of this task must pass; empty outside of gated work.
write_gates: ContextVar[tuple[WriteGate, ...]] = ContextVar("pyctrl write gates", default=())


def gated_context(gate: WriteGate, context: Context) -> Context:
    """Return a copy of a context for tasks whose writes must pass ``gate`` too."""
    gated = context.copy()
    gated.run(lambda: write_gates.set((*write_gates.get(), gate)))
    return gated


def check_gates(request: HttpRequest) -> None:
    """Check the gates for a write. Reads always pass.

    Raises:
        NotLeading: a gate does not let it pass.
    """
    if request.method not in _READS:
        for gate in write_gates.get():
            gate.check(request)


async def send_gated(send: Callable[[HttpRequest], Coroutine[Any, Any, T]], request: HttpRequest) -> T:
    """Send a request by ``send``; a write must pass the gates, which learn when it is answered.

    Raises:
        NotLeading: a gate does not let it pass.
    """
    gates = write_gates.get()
    if not gates or request.method in _READS:
        return await send(request)
    check_gates(request)
    caller = _Caller()
    token = write_gates.set((*gates, caller))
    try:
        answer = asyncio.get_running_loop().create_task(send(request))
    finally:
        write_gates.reset(token)
    for gate in gates:
        gate.sent(answer)
    try:
        return await asyncio.shield(answer)
    except asyncio.CancelledError:
        caller.is_cancelled = True
        answer.add_done_callback(_drop_error)
        raise


def _drop_error(answer: asyncio.Task[Any]) -> None:
    """Retrieve the error of a write whose caller is gone, which asyncio would log."""
    if not answer.cancelled():
        answer.exception()


class _Caller:
    """Gate that refuses a write whose caller was cancelled before it was sent: while it waited for a connection."""

    __slots__ = ("is_cancelled",)

    def __init__(self) -> None:
        self.is_cancelled = False

    def check(self, request: HttpRequest) -> None:
        if self.is_cancelled:
            raise NotLeading(f"{request} was not sent: it was cancelled")

    def sent(self, answer: asyncio.Task[Any]) -> None:
        """Do nothing: the caller waits for the answer itself."""
