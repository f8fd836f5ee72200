"""Waiting until the sources of a controller are synced, and logging why a controller does not start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from pyctrl._log import RepeatedErrors
from pyctrl.controller._options import OnSyncFailure
from pyctrl.controller._sources.runner import SourceRunner, SourceRunners, describe_problems
from pyctrl.controller._state import ControllerState
from pyctrl.errors import ControllerError

__all__ = ["SyncWaiter"]

log = logging.getLogger("pyctrl.controller")

CHECK_INTERVAL = 5.0  # seconds between checks; most starts are over before the first

#: The log levels of states in which a controller waits. The manager logs missing permissions.
_LOG_LEVELS = {
    ControllerState.WAITING_FOR_DEFINITION: logging.WARNING,
    ControllerState.FAILING: logging.WARNING,
    ControllerState.DORMANT: logging.INFO,
    ControllerState.WAITING_FOR_SOURCES: logging.INFO,
}
#: States that may last without a limit.
_WITHOUT_TIMEOUT = {ControllerState.WAITING_FOR_RIGHTS, ControllerState.DORMANT, ControllerState.WAITING_FOR_DEFINITION}


class SyncWaiter:
    """Waits until all sources of a controller are synced: a reconcile before that could miss objects that exist.

    Args:
        name: the name of the controller.
        runners: its sources.
        state: returns the state of the controller.
        limit: seconds after which a source counts as failing, unless its kind is forbidden or not served.
        fields: the log fields of the controller.
    """

    def __init__(
        self,
        name: str,
        runners: SourceRunners,
        *,
        state: Callable[[], ControllerState],
        limit: float,
        fields: Mapping[str, object],
    ) -> None:
        self._name, self._runners, self._state, self._limit, self._fields = name, runners, state, limit, fields
        self._repeated_errors = RepeatedErrors()
        #: Whether the sources have taken longer than the limit.
        self.is_late: bool = False

    async def wait_for_sync(self, on_failure: OnSyncFailure) -> None:
        """Wait, and log the reason at intervals.

        Raises:
            ControllerError: with `OnSyncFailure.END`, the sources have taken longer than the limit.
        """
        loop = asyncio.get_running_loop()
        limited = {ControllerState.WAITING_FOR_DEFINITION} if on_failure is OnSyncFailure.END else set()
        without_timeout = _WITHOUT_TIMEOUT - limited
        since = loop.time()
        while late := self._runners.late():
            left = since + self._limit - loop.time()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(CHECK_INTERVAL, left) if left > 0 else CHECK_INTERVAL):
                    for runner in late:
                        await runner.source.wait_until_ready()
                    if not self._runners.late():
                        break
                    await asyncio.sleep(CHECK_INTERVAL)  # a source is no longer synced
            if self._state() in without_timeout or all(runner.source.is_elsewhere for runner in late):
                since = loop.time()
            self.is_late = loop.time() - since >= self._limit
            if late := self._runners.late():
                self._log(late, on_failure)
        self.is_late = False

    def _log(self, late: Sequence[SourceRunner], on_failure: OnSyncFailure) -> None:
        state = self._state()
        reasons = "; ".join(runner.problem or f"{runner.source}: no error was seen" for runner in late)
        text = f"failed to wait for {self._name} caches to sync: not within {self._limit:g} s: {reasons}"
        is_fatal = on_failure is OnSyncFailure.END and not any(runner.source.is_elsewhere for runner in late)
        if self.is_late and is_fatal:
            raise ControllerError(text)
        about = (state, self.is_late, *((str(runner.source), runner.status) for runner in late))
        now = asyncio.get_running_loop().time()
        if self.is_late:
            level = self._repeated_errors.level(about, logging.ERROR, now)
            log.log(level, "Could not wait for Cache to sync", extra={**self._fields, "error": text})
        elif state in _LOG_LEVELS:
            level = self._repeated_errors.level(about, _LOG_LEVELS[state], now)
            facts = {**self._fields, "state": state.value, "reason": describe_problems(late)}
            log.log(level, "Controller is not ready to start", extra=facts)
