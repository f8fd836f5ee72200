"""Lifecycle of a manager's runnables: start in order, wait for a stop, stop in reverse."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, nullcontext
from contextvars import copy_context
from datetime import timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from pyctrl._tasks import Deadline, unwrap
from pyctrl.client import WriteGate, gated_context
from pyctrl.errors import GracePeriodExceeded, ManagerError
from pyctrl.manager._runnables.runnable import RunnableHandle, RunnableLike
from pyctrl.manager._runnables.runnable_group import Group, RunnableGroup, cancel_remaining, log_error_after_stop
from pyctrl.manager._runnables.signals import signals_handled

if TYPE_CHECKING:
    from pyctrl.manager._runnables.restart import Restart, Restarts

__all__ = ["Lifecycle"]

log = logging.getLogger("pyctrl.manager")


class Lifecycle:
    """Starts groups in order, watches their runnables, and stops the groups in reverse within one grace period.

    It ends on request (`ask_to_stop`, SIGINT, SIGTERM, cancellation of the task that runs it) or with the first failure
    of a runnable. A second request cancels all runnables at once.

    The group `Group.ELECTED` may stop and start again in between, see
    `pyctrl.manager._election.leader_elector.ElectedWork`.
    """

    def __init__(self, *, grace_period: timedelta | None, random: Random | None = None) -> None:
        self._grace_period = grace_period
        self._random = random or Random()
        self._groups = {group: RunnableGroup(group, failed=self._failed) for group in Group}
        self._has_run = False
        self._ending = asyncio.Event()
        self._is_asked_to_stop = False
        self._is_urgent = False
        self._deadline: Deadline | None = None
        self._failure: BaseException | None = None
        self._starting: asyncio.Task[None] | None = None
        self._context = copy_context()
        self._gate: WriteGate | None = None
        #: Set when every group that needs no leader has started: servers respond and caches are filled.
        self.started: asyncio.Event = asyncio.Event()
        #: Set when this replica leads (or there is no leader election) and its reconcilers have started.
        self.elected: asyncio.Event = asyncio.Event()

    def add(self, runnable: RunnableLike, group: Group, *, restart: Restart | None = None) -> None:
        """Add a runnable, with ``restart`` one that is restarted.

        Raises:
            ManagerError: stopping has begun, or the object is not a runnable.
        """
        if self._ending.is_set():
            raise ManagerError("can't accept new runnable as stop procedure is already engaged")
        self._groups[group].add(RunnableHandle(runnable, self._restarts(restart) if restart is not None else None))

    def _restarts(self, restart: Restart) -> Callable[[str], Restarts]:
        from pyctrl.manager._runnables.restart import Restarts  # here: most programs do not use it

        return partial(Restarts, restart=restart, random=self._random)

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """The runnables that have not ended, in their order of start."""
        return tuple(member for group in self._groups.values() for member in group.members)

    def elect(self, elector: RunnableLike, gate: WriteGate, *, restarts: bool) -> None:
        """Start the elected group once an elector leads, perhaps again later, with writes that pass a gate."""
        self.add(elector, Group.ELECTION)
        self._groups[Group.ELECTED].keeps_members = restarts
        self._gate = gate

    @property
    def ending(self) -> asyncio.Event:
        """Set once it has been asked to stop, or a runnable has failed."""
        return self._ending

    @property
    def is_stopping(self) -> bool:
        """Whether it has been asked to stop, or a runnable has failed."""
        return self._ending.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether no runnable of the elected group is running."""
        return self._groups[Group.ELECTED].has_ended

    def restart_elected(self) -> None:
        """Start the elected group again, unless stopping has begun."""
        if not self._ending.is_set():
            self._begin_start(self._start_elected())

    async def stop_elected(self, timeout: timedelta) -> None:
        """Stop only the elected group; also while everything is being stopped."""
        deadline = Deadline(timeout)
        self.elected.clear()
        try:
            self._cancel_start()
            await self._groups[Group.ELECTED].stop(deadline)
            await self._finish_start()
        finally:
            deadline.close()
        elected = self._groups[Group.ELECTED]
        if elected.overdue and not self._ending.is_set():  # of this term; the manager itself is not stopping
            text = "Cancelled leader election runnables that did not stop in time"
            log.warning(text, extra={"runnables": elected.overdue})
            elected.overdue = []

    def ask_to_stop(self) -> None:
        """Begin to stop; on a second call, cancel the remaining runnables."""
        if not self._is_asked_to_stop:  # also after a failure: the first signal then is not a second request
            self._is_asked_to_stop = True
            self._ending.set()
            return
        self._is_urgent = True
        if self._deadline is not None:
            self._deadline.expire()

    async def run(self, *, handle_signals: bool) -> None:
        """Start all groups, wait for a request to stop or a failure, then stop all groups.

        Raises:
            ManagerError: it has run before.
            GracePeriodExceeded: a runnable did not stop within the grace period and was cancelled.
            Exception: the first failure of a runnable.
        """
        if self._has_run:
            raise ManagerError("a manager runs only once; create a new one to run again")
        self._has_run = True
        self._context = copy_context()
        try:
            with signals_handled(self._on_signal) if handle_signals else nullcontext():
                await self._start_and_stop()
        except asyncio.CancelledError:
            _log_dropped(self._errors())  # `run` raises the cancellation instead
            raise
        if errors := self._errors():
            _log_dropped(errors[1:])
            raise errors[0]

    def _errors(self) -> Sequence[BaseException]:
        """Return the errors of `run`: the first failure, and the runnables that did not stop in time."""
        errors = [self._failure] if self._failure is not None else []
        overdue = [name for group in self._groups.values() for name in group.overdue]
        if overdue and self._grace_period != timedelta(0):  # a grace period of zero is expected to be exceeded
            errors.append(GracePeriodExceeded(self._explain(overdue)))
        return errors

    async def _start_and_stop(self) -> None:
        self._begin_start(self._start())
        try:
            await self._ending.wait()
        except asyncio.CancelledError:
            self._is_asked_to_stop = True
            raise
        finally:
            self._ending.set()
            await self._stop()

    def _begin_start(self, start: Coroutine[None, None, None]) -> None:
        self._starting = asyncio.create_task(start, name="manager/start")
        self._starting.add_done_callback(self._started)

    async def _start(self) -> None:
        for group in Group:
            if group is not Group.ELECTED:
                await self._groups[group].start(self._context)
            if group is Group.OTHERS:
                self.started.set()
        await self._start_elected()

    async def _start_elected(self) -> None:
        context = gated_context(self._gate, self._context) if self._gate is not None else self._context
        await self._groups[Group.ELECTED].start(context)
        self.elected.set()

    async def _stop(self) -> None:
        deadline = self._deadline = Deadline(timedelta(0) if self._is_urgent else self._grace_period)
        try:
            async with AsyncExitStack() as stack:  # unwinds in reverse, and continues after a second cancellation
                self._cancel_start()
                stack.push_async_callback(self._finish_start)
                for group in Group:
                    stack.push_async_callback(self._groups[group].stop, deadline)
        except asyncio.CancelledError:
            self._is_urgent = True
            raise
        finally:
            deadline.close()
        log.info("Wait completed, proceeding to shutdown the manager")

    def _cancel_start(self) -> None:
        if self._starting is not None:
            self._starting.cancel()

    async def _finish_start(self) -> None:
        """Wait until the start task has ended; last of all, as a `wait_until_ready` may ignore its cancellation."""
        if self._starting is not None:
            await cancel_remaining([self._starting])

    def _started(self, starting: asyncio.Task[None]) -> None:
        if not starting.cancelled() and (error := starting.exception()) is not None:
            self._failed("start", error)

    def _failed(self, name: str, error: BaseException) -> None:
        """Stop because of the first failure, which `run` raises; later failures are only logged."""
        if self._ending.is_set():
            log_error_after_stop(name, error)
            return
        self._failure = unwrap(error)
        self._ending.set()

    def _on_signal(self, number: signal.Signals) -> None:
        if self._is_asked_to_stop:
            log.warning("Second signal received, cancelling remaining runnables", extra={"signal": number.name})
        else:
            log.info("Signal received, stopping", extra={"signal": number.name})
        self.ask_to_stop()

    def _explain(self, overdue: list[str]) -> str:
        why = "when asked a second time" if self._is_urgent else f"within the grace period of {self._grace_period}"
        return f"cancelled runnables that had not stopped {why}: {', '.join(overdue)}"


def _log_dropped(errors: Sequence[BaseException]) -> None:
    """Log the errors that `run` does not raise because it raises another one."""
    for error in errors:
        log.error("error dropped during shutdown: %s", error, extra={"error": str(error)})
