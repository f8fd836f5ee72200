"""Run a runnable again that has ended: when, how soon, how often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from random import Random

from pyctrl.errors import ManagerError, PyctrlError

__all__ = ["Restart", "RestartPolicy", "Restarts"]

log = logging.getLogger("pyctrl.manager")

FACTOR = 2.0
JITTER = 0.2  # each wait is spread by so much, up and down: what failed together does not come back together


class RestartPolicy(StrEnum):
    """After which ends a runnable is run again, in the words of a pod's ``restartPolicy``; never is no `Restart`."""

    #: When `run` has raised. One that returns is done.
    ON_FAILURE = "OnFailure"
    #: Whenever it has ended, and nobody has asked it to.
    ALWAYS = "Always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Run a runnable again when it has failed, after a while, and do not end the manager for it.

    The waits are those of kubelet where containers are to come back soon (KEP-4603): 1 s, doubled with each failure up
    to 1 minute, and again 1 s once it has run for 10 minutes. Kubelet's usual 10 s to 5 minutes are for containers,
    which cost more to start than a coroutine. Each wait is spread by ±20 %.

    Raises:
        ManagerError: a wait is not positive, or the limit is negative.
    """

    policy: RestartPolicy = RestartPolicy.ON_FAILURE
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(minutes=1)
    #: Who has run for so long was well: the next failure counts as its first.
    healthy: timedelta = timedelta(minutes=10)
    #: How often in a row it is run again; then its error ends the manager after all. None: for ever.
    limit: int | None = None

    def __post_init__(self) -> None:
        if min(self.first, self.longest, self.healthy) <= timedelta(0) or (self.limit or 0) < 0:
            raise ManagerError(f"Restart takes waits above zero, and a limit of at least zero or None, got {self}")

    def wait(self, in_a_row: int) -> float:
        """Return the seconds to wait before it is run again for the nth time in a row, without jitter."""
        first, longest = self.first.total_seconds(), self.longest.total_seconds()
        return min(longest, first * FACTOR ** min(in_a_row - 1, 64))  # 2**64 seconds is long enough for everybody


class Restarts:
    """The lives of one runnable, one after the other.

    Args:
        name: of the runnable, for logs.
        restart: when it is run again.
        random: spreads the waits.
    """

    def __init__(self, name: str, restart: Restart, random: Random) -> None:
        self._name = name
        self._restart = restart
        self._random = random
        #: How often it was run again since it was added.
        self.count: int = 0
        #: Whether it waits for its next life: there is nothing to ask to stop.
        self.is_waiting: bool = False
        self._in_a_row = 0
        self._error = ""  # what ended the life before, until the next one is ready
        self._traced = ""  # of which error there was a traceback
        self._again_at = 0.0
        self._is_ready = asyncio.Event()

    @property
    def why_down(self) -> str:
        """Say why others cannot rely on it now; "" when they can, as far as is known here."""
        if not self._error:
            return ""
        if not self.is_waiting:
            return f"it is run again and not ready yet, after {self._error}"
        wait = max(0.0, self._again_at - asyncio.get_running_loop().time())
        return f"it has ended and is run again in {wait:.1f} s: {self._error}"

    async def wait_until_ready(self) -> None:
        """Return when one of its lives has become ready, the first or a later one."""
        await self._is_ready.wait()

    def begin(self) -> None:
        """Forget what was before: its group starts, perhaps for a second time."""
        self._in_a_row, self._error = 0, ""
        self._is_ready.clear()

    async def run(self, live: Callable[[Callable[[], None]], Awaitable[None]], is_asked: Callable[[], bool]) -> None:
        """Live again and again, until asked to stop, done, or beyond the limit.

        Args:
            live: one life; calls what it is given once others may rely on it.
            is_asked: whether it has been asked to stop, so that an end is the end.

        Raises:
            Exception: the error that is not followed by another life.
        """
        while True:
            began, error = _time(), None
            try:
                await live(self._became_ready)
            except Exception as caught:
                if is_asked() or self._has_reached_its_limit(began):
                    raise
                error = caught
            else:
                if is_asked() or self._restart.policy is RestartPolicy.ON_FAILURE:
                    return
                if self._has_reached_its_limit(began):
                    raise ManagerError(
                        f"{self._name} was run again {self._in_a_row} times in a row and always returned"
                    )
            await self._pause(error)

    def _has_reached_its_limit(self, began: float) -> bool:
        if _time() - began >= self._restart.healthy.total_seconds():
            self._in_a_row = 0
        return self._in_a_row == self._restart.limit

    def _became_ready(self) -> None:
        self._error = ""
        self._is_ready.set()

    async def _pause(self, error: Exception | None) -> None:
        self._in_a_row += 1
        wait = self._restart.wait(self._in_a_row) * self._random.uniform(1 - JITTER, 1 + JITTER)
        self._tell(error, wait)
        self._again_at, self.is_waiting = _time() + wait, True
        try:
            await asyncio.sleep(wait)
        finally:
            self.is_waiting = False
        self.count += 1

    def _tell(self, error: Exception | None, wait: float) -> None:
        told = "it returned" if error is None else f"{type(error).__name__}: {error}"
        # pyctrl's own errors say what to do; of another one that repeats, one traceback is enough
        trace = None if isinstance(error, PyctrlError) or told == self._traced else error
        self._error = self._traced = told
        facts = {"runnable": self._name, "error": told, "in a row": self._in_a_row, "wait": f"{wait:.1f} s"}
        log.error("A runnable has ended and will be run again", extra=facts, exc_info=trace)


def _time() -> float:
    return asyncio.get_running_loop().time()
