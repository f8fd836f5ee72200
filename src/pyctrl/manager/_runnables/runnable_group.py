"""Groups of runnables, which start in order and stop in reverse."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from contextvars import Context, copy_context
from datetime import timedelta
from enum import StrEnum

from pyctrl._tasks import Deadline, end
from pyctrl.manager._runnables.runnable import ReadyRunnable, RunnableHandle

__all__ = ["Group", "RunnableGroup", "cancel_remaining", "log_error_after_stop"]

log = logging.getLogger("pyctrl.manager")

#: Cancelled tasks get this long to clean up after the grace period, or after a second request to stop. Those that have
#: not ended are abandoned.
CANCEL_TIMEOUT = timedelta(seconds=5)


class Group(StrEnum):
    """The groups in their order of start. Each starts once the previous one is ready; they stop in reverse."""

    #: Metrics and health servers, which respond from before any other runnable starts until all others have ended.
    SERVERS = "servers"
    #: Admission and conversion webhooks, which the API server may call for the caches' own lists.
    WEBHOOKS = "webhooks"
    #: Caches; ready when every kind known so far has been listed.
    CACHES = "caches"
    #: Membership of the ring, if replicas divide the requests of controllers; it ends after them.
    SHARDING = "sharding"
    #: Runnables of every replica, leader or not.
    OTHERS = "others"
    #: Leader election; ready when this replica leads.
    ELECTION = "election"
    #: Runnables of the leader only: controllers, and runnables added without a group.
    ELECTED = "elected"


#: controller-runtime's log messages.
_STOP_MESSAGES = {
    Group.SERVERS: "Stopping and waiting for HTTP servers",
    Group.WEBHOOKS: "Stopping and waiting for webhooks",
    Group.CACHES: "Stopping and waiting for caches",
    Group.SHARDING: "Stopping and waiting for sharding",
    Group.OTHERS: "Stopping and waiting for non leader election runnables",
    Group.ELECTION: "Stopping and waiting for leader election",
    Group.ELECTED: "Stopping and waiting for leader election runnables",
}


class RunnableGroup:
    """The runnables of one group, started and stopped together; restartable with ``keeps_members``."""

    def __init__(self, group: Group, *, failed: Callable[[str, BaseException], None]) -> None:
        self.group = group
        self._failed = failed
        #: Whether runnables that have ended start again with the group.
        self.keeps_members = False
        self._is_running = False
        self._context = copy_context()
        self._members: list[RunnableHandle] = []
        #: Names of the runnables that were asked to stop, did not end in time and were cancelled.
        self.overdue: list[str] = []

    def add(self, member: RunnableHandle) -> None:
        """Add a runnable. It starts with the group, or at once if the group is running."""
        self._members.append(member)
        if self._is_running:
            member.start(self.group, self._ended, self._context)

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """The runnables that have not ended, in the order in which they were added."""
        return tuple(self._members)

    @property
    def has_ended(self) -> bool:
        """Whether no runnable of the group is running."""
        return not any(member.is_running for member in self._members)

    async def start(self, context: Context) -> None:
        """Start every runnable, each in a copy of ``context``, and wait until all of them are ready."""
        self._is_running = True
        self._context = context
        for member in self._members:
            member.start(self.group, self._ended, context)
        async with asyncio.TaskGroup() as waiting:
            for member in self._members:
                waiting.create_task(member.wait_until_ready(), name=f"{self.group}/{member.name} ready")

    async def stop(self, deadline: Deadline) -> None:
        """Ask every runnable to stop, wait until the deadline, then cancel the remaining ones."""
        self._is_running = False  # a runnable added now waits for the next start
        members = {member.task: member for member in self._members if member.task is not None and member.is_running}
        if not members:
            return
        self._log_stopping(members.values())
        has_time = not deadline.is_over
        would_finish = [task for task, member in members.items() if member.ask_to_stop()]
        try:
            await deadline.wait(members)
        except asyncio.CancelledError:
            deadline.expire()  # the caller was cancelled: the groups that stop after this one do not wait either
            raise
        finally:
            cleaning = [task for task, member in members.items() if member.is_cancelled and not task.done()]
            if not deadline.is_early:  # the grace period was their time to clean up
                cleaning = []
            late = [task for task in members if not task.done() and task not in cleaning]
            if has_time:
                self.overdue += sorted(task.get_name() for task in late)
            elif cut_off := sorted(task.get_name() for task in late if task in would_finish):
                log.warning("Grace period is over, cancelling remaining runnables", extra={"runnables": cut_off})
            interrupted = await cancel_remaining(late, cleaning)
            self.overdue += sorted(task.get_name() for task in interrupted)

    def _log_stopping(self, members: Iterable[RunnableHandle]) -> None:
        # every manager has an event writer and may have a heartbeat in this group; only servers have to become ready
        if self.group is not Group.SERVERS or any(isinstance(member.runnable, ReadyRunnable) for member in members):
            log.info(_STOP_MESSAGES[self.group])

    def _ended(self, member: RunnableHandle) -> None:
        error = member.error()
        if error is not None and self._is_running:
            self._failed(member.name, error)
        elif error is not None:
            log_error_after_stop(member.name, error)
        if not self.keeps_members:
            self._members.remove(member)


async def cancel_remaining(
    late: Collection[asyncio.Task[None]], cleaning: Collection[asyncio.Task[None]] = ()
) -> set[asyncio.Task[None]]:
    """Cancel tasks, and log those that do not end within `CANCEL_TIMEOUT`; they are not awaited further.

    Tasks that are ``cleaning`` up were cancelled before. They are cancelled again, and returned, only if they have not
    ended by then: a second cancellation interrupts a `finally`.
    """
    interrupted: set[asyncio.Task[None]] = set()
    try:
        interrupted = (await end(late, others=cleaning, patience=CANCEL_TIMEOUT)).intersection(cleaning)
        await end(interrupted, patience=CANCEL_TIMEOUT)
        return interrupted
    finally:
        for task in (*late, *cleaning):
            if not task.done():
                log.error("Runnable did not end when cancelled, abandoning it", extra={"runnable": task.get_name()})


def log_error_after_stop(name: str, error: BaseException) -> None:
    """Log the failure of a runnable after it was asked to stop; such a failure no longer ends the manager."""
    log.error("error received after stop sequence was engaged", extra={"runnable": name}, exc_info=error)
