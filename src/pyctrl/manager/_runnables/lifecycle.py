"""The life of a manager's runnables: start in order, wait for an end, stop in reverse."""

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
    """Start groups in order, watch over their runnables, stop the groups in reverse within one grace period.

    It ends when it is asked to (`ask_to_stop`, SIGINT, SIGTERM, cancellation of the task that runs it) or with the
    first failure of a runnable. Asked a second time it no longer waits: everything is cancelled at once.

    What is in the group `Group.ELECTED` may end and begin anew in between, see
    `pyctrl.manager._election.leader_elector.ElectedWork`.
    """

    def __init__(self, *, grace_period: timedelta | None, random: Random | None = None) -> None:
        self._grace_period = grace_period
        self._random = random or Random()
        self._groups = {group: RunnableGroup(group, failed=self._failed) for group in Group}
        self._has_run = False
        self._ending = asyncio.Event()
        self._is_asked = False
        self._is_urgent = False
        self._deadline: Deadline | None = None
        self._failure: BaseException | None = None
        self._starting: asyncio.Task[None] | None = None
        self._context = copy_context()
        self._gate: WriteGate | None = None
        #: Set when every group that needs no leader has started: this replica serves, and its caches are filled.
        self.started: asyncio.Event = asyncio.Event()
        #: Set when this replica leads (or nothing elects) and its reconcilers have been started.
        self.elected: asyncio.Event = asyncio.Event()

    def add(self, runnable: RunnableLike, group: Group, *, restart: Restart | None = None) -> None:
        """Take a runnable in, to be run once, or again as ``restart`` says.

        Raises:
            ManagerError: stopping has begun, or it is not a runnable.
        """
        if self._ending.is_set():
            raise ManagerError("can't accept new runnable as stop procedure is already engaged")
        self._groups[group].add(RunnableHandle(runnable, self._restarts(restart) if restart is not None else None))

    def _restarts(self, restart: Restart) -> Callable[[str], Restarts]:
        from pyctrl.manager._runnables.restart import Restarts  # here: most programs have none

        return partial(Restarts, restart=restart, random=self._random)

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """Its runnables that have not ended, in the order in which they start."""
        return tuple(member for group in self._groups.values() for member in group.members)

    def elect(self, elector: RunnableLike, gate: WriteGate, *, begins_anew: bool) -> None:
        """Let an elector decide when elected work begins, ends and perhaps begins anew, and a gate what it writes."""
        self.add(elector, Group.ELECTION)
        self._groups[Group.ELECTED].keeps_members = begins_anew
        self._gate = gate

    @property
    def is_stopping(self) -> bool:
        """Whether it has been asked to stop, or something has failed."""
        return self._ending.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether no elected work runs."""
        return self._groups[Group.ELECTED].has_ended

    def begin_elected(self) -> None:
        """Begin the elected work anew, unless stopping has begun."""
        if not self._ending.is_set():
            self._begin(self._start_elected())

    async def end_elected(self, patience: timedelta) -> None:
        """End the elected work and nothing else; also while everything is being stopped."""
        deadline = Deadline(patience)
        self.elected.clear()
        try:
            self._start_nothing_more()
            await self._groups[Group.ELECTED].stop(deadline)
            await self._end_start()
        finally:
            deadline.close()
        elected = self._groups[Group.ELECTED]
        if elected.overdue and not self._ending.is_set():  # of this term; the manager's own stop is still to come
            log.warning("Cancelled elected work that had not stopped in time", extra={"runnables": elected.overdue})
            elected.overdue = []

    def ask_to_stop(self) -> None:
        """Begin to stop; asked again, stop waiting for whoever has not stopped yet."""
        if not self._is_asked:  # also when something has failed: the first signal is no second one
            self._is_asked = True
            self._ending.set()
            return
        self._is_urgent = True
        if self._deadline is not None:
            self._deadline.expire()

    async def run(self, *, handle_signals: bool) -> None:
        """Start everything, wait for the end, stop everything.

        Raises:
            ManagerError: it has run before.
            GracePeriodExceeded: something had to be cancelled because the grace period was over.
            Exception: the first failure of a runnable.
        """
        if self._has_run:
            raise ManagerError("a manager runs once; make a new one to run again")
        self._has_run = True
        self._context = copy_context()
        try:
            with signals_handled(self._on_signal) if handle_signals else nullcontext():
                await self._live()
        except asyncio.CancelledError:
            _log_dropped(self._errors())  # the cancellation goes on
            raise
        if errors := self._errors():
            _log_dropped(errors[1:])
            raise errors[0]

    def _errors(self) -> Sequence[BaseException]:
        """Return what `run` has to tell of: the first failure, and who did not stop in time."""
        errors = [self._failure] if self._failure is not None else []
        overdue = [name for group in self._groups.values() for name in group.overdue]
        if overdue and self._grace_period != timedelta(0):  # who gives no time must expect that it is not enough
            errors.append(GracePeriodExceeded(self._explain(overdue)))
        return errors

    async def _live(self) -> None:
        self._begin(self._start())
        try:
            await self._ending.wait()
        except asyncio.CancelledError:
            self._is_asked = True
            raise
        finally:
            self._ending.set()
            await self._stop()

    def _begin(self, start: Coroutine[None, None, None]) -> None:
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
            async with AsyncExitStack() as stack:  # unwinds in reverse, and goes on when a second cancel interrupts it
                self._start_nothing_more()
                stack.push_async_callback(self._end_start)
                for group in Group:
                    stack.push_async_callback(self._groups[group].stop, deadline)
        except asyncio.CancelledError:
            self._is_urgent = True
            raise
        finally:
            deadline.close()
        log.info("Wait completed, proceeding to shutdown the manager")

    def _start_nothing_more(self) -> None:
        if self._starting is not None:
            self._starting.cancel()

    async def _end_start(self) -> None:
        """Wait until the start is over: last of all, as somebody may not heed that nobody waits for it to be ready."""
        if self._starting is not None:
            await cancel_remaining([self._starting])

    def _started(self, starting: asyncio.Task[None]) -> None:
        if not starting.cancelled() and (error := starting.exception()) is not None:
            self._failed("start", error)

    def _failed(self, name: str, error: BaseException) -> None:
        """The first failure ends the manager and is raised by `run`; those that follow from it are only logged."""
        if self._ending.is_set():
            log_error_after_stop(name, error)
            return
        self._failure = unwrap(error)
        self._ending.set()

    def _on_signal(self, number: signal.Signals) -> None:
        if self._is_asked:
            log.warning("Second signal received, cancelling what is left", extra={"signal": number.name})
        else:
            log.info("Signal received, stopping", extra={"signal": number.name})
        self.ask_to_stop()

    def _explain(self, overdue: list[str]) -> str:
        why = "when asked a second time" if self._is_urgent else f"within the grace period of {self._grace_period}"
        return f"cancelled what had not stopped {why}: {', '.join(overdue)}"


def _log_dropped(errors: Sequence[BaseException]) -> None:
    """Log the errors that `run` does not raise, because it raises something else."""
    for error in errors:
        log.error("error dropped during shutdown: %s", error, extra={"error": str(error)})
