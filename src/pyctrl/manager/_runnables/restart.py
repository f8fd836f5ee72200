"""Restarts of runnables: policy, backoff and limit."""

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
JITTER = 0.2  # each wait varies by ±20 %: runnables that failed together do not restart together


class RestartPolicy(StrEnum):
    """When a runnable is restarted, named as a pod's ``restartPolicy``; for ``Never``, pass no `Restart`."""

    #: When `run` has raised. A runnable that returns is done.
    ON_FAILURE = "OnFailure"
    #: Whenever `run` has ended without a request to stop.
    ALWAYS = "Always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Restart a runnable after it has failed, with backoff, instead of ending the manager.

    The waits are those of kubelet's reduced CrashLoopBackOff (KEP-4603): 1 s, doubled with each failure up to 1 minute,
    and 1 s again after a run of 10 minutes. Kubelet's default of 10 s to 5 minutes is for containers, which cost more
    to start than a coroutine. Each wait varies by ±20 %.

    Raises:
        ManagerError: a wait is not positive, or the limit is negative.
    """

    policy: RestartPolicy = RestartPolicy.ON_FAILURE
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(minutes=1)
    #: After a run of this length the next failure counts as the first.
    healthy: timedelta = timedelta(minutes=10)
    #: Restarts in a row; after that the error ends the manager. None: no limit.
    limit: int | None = None

    def __post_init__(self) -> None:
        if min(self.first, self.longest, self.healthy) <= timedelta(0) or (self.limit or 0) < 0:
            raise ManagerError(f"Restart takes waits above zero and a limit of at least zero or None, got {self}")

    def wait(self, in_a_row: int) -> float:
        """Return the seconds to wait before the nth restart in a row, without jitter."""
        first, longest = self.first.total_seconds(), self.longest.total_seconds()
        return min(longest, first * FACTOR ** min(in_a_row - 1, 64))  # the exponent is capped to avoid an OverflowError


class Restarts:
    """The successive runs of one runnable.

    Args:
        name: the runnable's name, for logs.
        restart: the policy, backoff and limit.
        random: the source of jitter.
    """

    def __init__(self, name: str, restart: Restart, random: Random) -> None:
        self._name = name
        self._restart = restart
        self._random = random
        #: Restarts since the runnable was added.
        self.count: int = 0
        #: Whether it waits for its next run, so that there is nothing to ask to stop.
        self.is_waiting: bool = False
        self._in_a_row = 0
        self._error = ""  # the error that ended the previous run, until the next one is ready
        self._traced = ""  # the last error that was logged with a traceback
        self._restart_at = 0.0
        self._is_ready = asyncio.Event()

    @property
    def why_restarting(self) -> str:
        """The reason why it is being restarted; "" once it is ready again."""
        if not self._error:
            return ""
        if not self.is_waiting:
            return f"restarted and not ready yet, after {self._error}"
        wait = max(0.0, self._restart_at - asyncio.get_running_loop().time())
        return f"ended, restarting in {wait:.1f} s: {self._error}"

    async def wait_until_ready(self) -> None:
        """Return when a run, the first or a later one, has become ready."""
        await self._is_ready.wait()

    def reset(self) -> None:
        """Forget earlier failures, because the group starts, perhaps for a second time."""
        self._in_a_row, self._error = 0, ""
        self._is_ready.clear()

    async def run(
        self, run_once: Callable[[Callable[[], None]], Awaitable[None]], is_asked_to_stop: Callable[[], bool]
    ) -> None:
        """Run until asked to stop, done, or at the limit of restarts.

        Args:
            run_once: runs the runnable; calls its argument once the runnable is ready.
            is_asked_to_stop: whether the runnable has been asked to stop, so that it is not restarted.

        Raises:
            Exception: the error after which there is no restart.
        """
        while True:
            began, error = _time(), None
            try:
                await run_once(self._became_ready)
            except Exception as caught:
                if is_asked_to_stop() or self._has_reached_limit(began):
                    raise
                error = caught
            else:
                if is_asked_to_stop() or self._restart.policy is RestartPolicy.ON_FAILURE:
                    return
                if self._has_reached_limit(began):
                    raise ManagerError(f"{self._name} returned after each of {self._in_a_row} restarts in a row")
            await self._wait_for_restart(error)

    def _has_reached_limit(self, began: float) -> bool:
        if _time() - began >= self._restart.healthy.total_seconds():
            self._in_a_row = 0
        return self._in_a_row == self._restart.limit

    def _became_ready(self) -> None:
        self._error = ""
        self._is_ready.set()

    async def _wait_for_restart(self, error: Exception | None) -> None:
        self._in_a_row += 1
        wait = self._restart.wait(self._in_a_row) * self._random.uniform(1 - JITTER, 1 + JITTER)
        self._log_restart(error, wait)
        self._restart_at, self.is_waiting = _time() + wait, True
        try:
            await asyncio.sleep(wait)
        finally:
            self.is_waiting = False
        self.count += 1

    def _log_restart(self, error: Exception | None, wait: float) -> None:
        text = "it returned" if error is None else f"{type(error).__name__}: {error}"
        # pyctrl's own errors need no traceback; of any other error that repeats, only the first one is logged with it
        trace = None if isinstance(error, PyctrlError) or text == self._traced else error
        self._error = self._traced = text
        facts = {"runnable": self._name, "error": text, "in a row": self._in_a_row, "wait": f"{wait:.1f} s"}
        log.error("Runnable ended, restarting", extra=facts, exc_info=trace)


def _time() -> float:
    return asyncio.get_running_loop().time()
