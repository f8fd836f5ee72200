"""Find what a test does to its event loop: tasks left behind, exceptions nobody saw, calls that block.

Blocking is found in two ways, neither of which reads a wall clock, so a busy machine cannot make a test fail:
calls that wait (``time.sleep``, a blocking socket, a subprocess) are intercepted, and computing is measured in CPU time
of the thread, one turn of the loop at a time.
"""

from __future__ import annotations

import asyncio
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

TURN_LIMIT = (
    2.0  # seconds of CPU in one turn; the longest honest one, the first embedded cluster in a process, takes 0.5
)
# Not files: reading a small local one (a token, a certificate) is quicker than handing it to a thread.
# Not locks: logging has them, and whether one is contended depends on the machine.
WAITING_CALLS = ("time.", "socket.", "ssl.")
WAITING_FUNCTIONS = ("os.read", "builtins.input")
ROUNDS = 10  # turns given to tasks that are already ending; a connection that closes needs two or three


class LoopMisused(AssertionError):
    """Raised at the end of a test that left tasks behind, hid an exception or blocked its loop."""


class _Watch(asyncio.BaseEventLoop):
    """Measures each turn of the loop."""

    longest_turn: float = 0.0
    longest_turn_ended_with: str = ""

    def _run_once(self) -> None:
        # The one place every version of asyncio passes through between two waits.
        before = thread_time()
        super()._run_once()  # type: ignore[misc]  # not in the stubs
        if (spent := thread_time() - before) > self.longest_turn:
            self.longest_turn = spent
            self.longest_turn_ended_with = describe_tasks(self) if spent > TURN_LIMIT else ""


class WatchedLoop(_Watch, asyncio.SelectorEventLoop):
    """A real event loop that knows its longest turn."""


class WatchedVirtualTimeLoop(_Watch, VirtualTimeLoop):
    """A virtual-time loop that knows its longest turn."""


@asynccontextmanager
async def no_leftovers() -> AsyncIterator[None]:
    """Raise `LoopMisused` when what runs inside leaves tasks, unseen exceptions or a long turn behind."""
    loop = asyncio.get_running_loop()
    before = asyncio.all_tasks(loop)
    unseen: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: unseen.append(context))
    yield
    if isinstance(loop, VirtualTimeLoop) and loop.has_failed:
        return  # it stopped in the middle of the test, which has failed for a better reason
    if left := await _left_after(ROUNDS, before):
        raise LoopMisused(f"tasks left running, every task must be awaited by who started it:\n{describe(left)}")
    if unseen:
        raise LoopMisused("exceptions that nobody saw:\n" + "\n".join(map(_describe_context, unseen)))
    if isinstance(loop, _Watch) and loop.longest_turn > TURN_LIMIT:
        raise LoopMisused(
            f"the loop was blocked: one turn took {loop.longest_turn:.1f} s of CPU (limit {TURN_LIMIT} s), with\n"
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
    """Make calls that wait raise ``blockbuster.BlockingError`` when made inside a running loop."""
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
