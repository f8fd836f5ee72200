"""Checks of a test's event loop: leaked tasks, unhandled exceptions, blocking calls.

Two checks find blocking. Neither reads a wall clock, so a busy machine cannot make a test fail: calls that wait
(``time.sleep``, a blocking socket, a subprocess) are intercepted, and computation is measured in CPU time of the
thread, per iteration of the loop. Garbage collections do not count: one visits the objects of the whole test session.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from time import thread_time
from typing import TYPE_CHECKING, Any

from pyctrl.testing._loop.describe_tasks import describe, describe_tasks
from pyctrl.testing._loop.virtual_time import VirtualTimeLoop

if TYPE_CHECKING:
    from blockbuster import BlockBusterFunction

__all__ = ["LoopMisused", "WatchedLoop", "WatchedVirtualTimeLoop", "no_blocking_calls", "no_leftovers"]

TURN_LIMIT = 2.0  # seconds of CPU per iteration; the longest legitimate one, the first cluster of a process, takes 0.5
# Without files: reading a small local one (a token, a certificate) is quicker than handing it to a thread.
# Without locks: logging has them, and whether one is contended depends on the machine.
WAITING_CALLS = ("time.", "socket.", "ssl.")
WAITING_FUNCTIONS = ("os.read", "builtins.input")
ROUNDS = 10  # iterations for tasks that are already ending; a connection that closes needs two or three


class LoopMisused(AssertionError):
    """Raised at the end of a test that leaked tasks, left an exception unhandled or blocked its loop."""


class _CollectorTime(threading.local):
    """CPU seconds that each thread spent in garbage collections while this was one of ``gc.callbacks``."""

    spent: float = 0.0
    _began: float = 0.0

    def __call__(self, phase: str, _: object) -> None:
        if phase == "start":
            self._began = thread_time()
        else:
            self.spent += thread_time() - self._began


_collector_time = _CollectorTime()


class _Watch(asyncio.BaseEventLoop):
    """Event loop that measures each of its iterations."""

    longest_turn: float = 0.0
    longest_turn_ended_with: str = ""

    def _run_once(self) -> None:
        # Every version of asyncio calls this once per iteration.
        before = thread_time() - _collector_time.spent
        super()._run_once()  # type: ignore[misc]  # not in the stubs
        if (spent := thread_time() - _collector_time.spent - before) > self.longest_turn:
            self.longest_turn = spent
            self.longest_turn_ended_with = describe_tasks(self) if spent > TURN_LIMIT else ""


class WatchedLoop(_Watch, asyncio.SelectorEventLoop):
    """Real event loop that records its longest iteration."""


class WatchedVirtualTimeLoop(_Watch, VirtualTimeLoop):
    """Virtual-time event loop that records its longest iteration."""


@asynccontextmanager
async def no_leftovers() -> AsyncIterator[None]:
    """Raise `LoopMisused` if the block leaks tasks, leaves exceptions unhandled or blocks the loop."""
    loop = asyncio.get_running_loop()
    before = asyncio.all_tasks(loop)
    unhandled: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    gc.callbacks.append(_collector_time)
    try:
        yield
    finally:
        gc.callbacks.remove(_collector_time)
    if isinstance(loop, VirtualTimeLoop) and loop.has_failed:
        return  # the test was interrupted and has failed for that reason
    if left := await _left_after(ROUNDS, before):
        raise LoopMisused(f"tasks left running; await every task where it is started:\n{describe(left)}")
    if unhandled:
        raise LoopMisused("unhandled exceptions:\n" + "\n".join(map(_describe_context, unhandled)))
    if isinstance(loop, _Watch) and loop.longest_turn > TURN_LIMIT:
        raise LoopMisused(
            f"the loop was blocked: one iteration took {loop.longest_turn:.1f} s of CPU (limit {TURN_LIMIT} s), with\n"
            f"{loop.longest_turn_ended_with}"
        )


async def _left_after(rounds: int, before: set[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if not left or not rounds:
        return left
    await asyncio.sleep(0)
    return await _left_after(rounds - 1, before)


def _describe_context(context: dict[str, Any]) -> str:
    return f"  {context.get('message', '')}: {context.get('exception')!r}"


@contextmanager
def no_blocking_calls() -> Iterator[None]:
    """Make blocking calls inside a running loop raise ``blockbuster.BlockingError``."""
    guards = _guards()
    for guard in guards:
        guard.activate()
    try:
        yield
    finally:
        for guard in guards:
            guard.deactivate()


@cache
def _guards() -> tuple[BlockBusterFunction, ...]:
    from blockbuster import BlockBuster  # here: of extra `test`

    return tuple(
        guard
        for name, guard in BlockBuster().functions.items()
        if name.startswith(WAITING_CALLS) or name in WAITING_FUNCTIONS
    )
