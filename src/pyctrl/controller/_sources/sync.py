"""Waits with a controller for its sources, and says why it does not begin."""

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

CHECK_INTERVAL = 5.0  # seconds between looks at what it waits for; a start that goes well is over before the first

#: How loud it is that a controller waits. Of rights somebody else tells; and a source may just have much to tell.
_LOG_LEVELS = {
    ControllerState.WAITING_FOR_DEFINITION: logging.WARNING,
    ControllerState.FAILING: logging.WARNING,
    ControllerState.DORMANT: logging.INFO,
    ControllerState.WAITING_FOR_SOURCES: logging.INFO,
}
#: What may last for as long as it likes.
_WITHOUT_TIMEOUT = {ControllerState.WAITING_FOR_RIGHTS, ControllerState.DORMANT, ControllerState.WAITING_FOR_DEFINITION}


class SyncWaiter:
    """Wait until every source has told what is there: a reconcile before that would see half of the world.

    Args:
        name: of the controller.
        lives: its sources.
        state: what the controller is doing.
        limit: seconds after which a source that is not forbidden and not missing counts as failing.
        fields: what logs say of the controller.
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
        #: Whether they have taken longer than they may.
        self.is_late: bool = False

    async def wait_for_sync(self, on_failure: OnSyncFailure) -> None:
        """Wait, and say at whiles what for.

        Raises:
            ControllerError: they have taken longer than they may, and that is to end it.
        """
        loop = asyncio.get_running_loop()
        patient = _WITHOUT_TIMEOUT - (
            {ControllerState.WAITING_FOR_DEFINITION} if on_failure is OnSyncFailure.END else set()
        )
        since = loop.time()
        while late := self._runners.late():
            left = since + self._limit - loop.time()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(CHECK_INTERVAL, left) if left > 0 else CHECK_INTERVAL):
                    for runner in late:
                        await runner.source.wait_until_ready()
                    if not self._runners.late():
                        break
                    await asyncio.sleep(CHECK_INTERVAL)  # it has thought better of it
            if self._state() in patient or all(runner.source.is_elsewhere for runner in late):
                since = loop.time()
            self.is_late = loop.time() - since >= self._limit
            if late := self._runners.late():
                self._tell(late, on_failure)
        self.is_late = False

    def _tell(self, late: Sequence[SourceRunner], on_failure: OnSyncFailure) -> None:
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
            log.log(level, "Controller does not begin yet", extra=facts)
