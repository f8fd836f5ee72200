"""Ways to stop a manager, and the expected behaviour of its runnables."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import Protocol, cast

from pyctrl.errors import GracePeriodExceeded
from pyctrl.testing import VirtualTimeLoop

__all__ = ["ENDINGS", "Ending", "Stopping", "now", "outcome"]

AT = 20.0  # seconds after the start


class Stopping(Protocol):
    """A lifecycle or a manager."""

    def ask_to_stop(self) -> None: ...

    async def run(self, *, handle_signals: bool) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One way to stop a manager.

    Args:
        grace: seconds; None for no limit.
        asks: the calls on the running manager, at `AT` and each second afterwards.
        raises: the error of `run`, if no runnable is too slow.
    """

    name: str
    grace: float | None = 30
    asks: tuple[str, ...]
    raises: type[BaseException] | None = None

    @property
    def patience(self) -> float:
        """After how many seconds runnables that have not stopped are cancelled."""
        again = [later for later, ask in enumerate(self.asks) if later and ask != "nothing"]
        # a signal after a failure is the first one
        if self.asks[0] == "failure":
            again = again[1:]
        return min([inf if self.grace is None else self.grace, *again])

    @property
    def is_hurried(self) -> bool:
        """Whether the grace period is cut short."""
        return self.patience < (inf if self.grace is None else self.grace)

    def outcome(self, *, overdue: bool) -> type[BaseException] | None:
        """Return the expected result of `run`."""
        return GracePeriodExceeded if overdue and self.raises is None and self.grace != 0 else self.raises


class OtherFailed(Exception):
    """The error of another runnable."""


ENDINGS = (
    Ending(name="one signal", asks=("signal",)),
    Ending(name="a second signal", asks=("signal", "signal")),
    Ending(name="asked from inside", asks=("ask",)),
    Ending(name="cancelled", asks=("cancel",), raises=asyncio.CancelledError),
    Ending(name="cancelled twice", asks=("cancel", "cancel"), raises=asyncio.CancelledError),
    Ending(name="cancelled, then a signal", asks=("cancel", "signal"), raises=asyncio.CancelledError),
    Ending(name="failure of another", asks=("failure",), raises=OtherFailed),
    Ending(name="failure, then a signal", asks=("failure", "signal"), raises=OtherFailed),
    Ending(name="failure, then two signals", asks=("failure", "signal", "signal"), raises=OtherFailed),
    Ending(name="no grace", grace=0, asks=("signal",)),
    Ending(name="a grace without end", grace=None, asks=("signal",)),
)


def now() -> float:
    """Return the loop's time."""
    return asyncio.get_running_loop().time()


async def outcome(manager: Stopping, ending: Ending, fail: Callable[[], None]) -> tuple[BaseException | None, float]:
    """Run a manager and stop it in this way; return the result of `run`, and the seconds it took.

    Args:
        manager: the manager to run.
        ending: the way to stop.
        fail: makes a runnable fail.
    """
    loop = cast(VirtualTimeLoop, asyncio.get_running_loop())
    running = asyncio.create_task(manager.run(handle_signals=True), name="run")
    acts: dict[str, Callable[[], object]] = {
        "signal": lambda: loop.send_signal(signal.SIGTERM),
        "ask": manager.ask_to_stop,
        "cancel": running.cancel,
        "failure": fail,
    }
    begun = now()

    def act(ask: str) -> None:
        if not running.done():
            acts[ask]()

    for later, ask in enumerate(ending.asks):
        loop.call_at(begun + AT + later, act, ask)
    await asyncio.wait([running])
    error = asyncio.CancelledError() if running.cancelled() else running.exception()
    return error, now() - begun - AT


def grace_of(ending: Ending) -> timedelta | None:
    """Return the grace period of a new manager."""
    return None if ending.grace is None else timedelta(seconds=ending.grace)
