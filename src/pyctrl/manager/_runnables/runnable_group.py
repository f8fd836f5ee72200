"""Runnables by when they start and stop: servers first and last, reconcilers last and first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from contextvars import Context, copy_context
from datetime import timedelta
from enum import StrEnum

from pyctrl._tasks import Deadline, end
from pyctrl.manager._runnables.runnable import RunnableHandle
from pyctrl.manager._servers.http_server import HttpServer

__all__ = ["Group", "RunnableGroup", "cancel_remaining", "log_error_after_stop"]

log = logging.getLogger("pyctrl.manager")

#: After the grace period tasks are cancelled and get this long to clean up; who ignores that is left behind.
CANCEL_TIMEOUT = timedelta(seconds=5)


class Group(StrEnum):
    """When a runnable starts: groups start in this order, each once the one before is ready, and stop in reverse."""

    #: Metrics and health: must answer before anything else happens, and until everything else has ended.
    SERVERS = "servers"
    #: Admission and conversion: the API server may need them for the caches' own lists.
    WEBHOOKS = "webhooks"
    #: Copies of the cluster: ready when everything known so far has been listed.
    CACHES = "caches"
    #: Work that every replica does, leader or not.
    OTHERS = "others"
    #: The election of a leader: ready when this replica leads.
    ELECTION = "election"
    #: Work that only the leader does; controllers, and what is added without a group.
    ELECTED = "elected"


#: controller-runtime's words.
_STOP_MESSAGES = {
    Group.SERVERS: "Stopping and waiting for HTTP servers",
    Group.WEBHOOKS: "Stopping and waiting for webhooks",
    Group.CACHES: "Stopping and waiting for caches",
    Group.OTHERS: "Stopping and waiting for non leader election runnables",
    Group.ELECTION: "Stopping and waiting for leader election",
    Group.ELECTED: "Stopping and waiting for leader election runnables",
}


class RunnableGroup:
    """The runnables of one group, started together and stopped together; started anew, if ``keeps_members``."""

    def __init__(self, group: Group, *, failed: Callable[[str, BaseException], None]) -> None:
        self.group = group
        self._failed = failed
        #: Whether those that have ended are run again when the group is.
        self.keeps_members = False
        self._is_running = False
        self._context = copy_context()
        self._members: list[RunnableHandle] = []
        #: Names of those that were asked to stop, had time for it, and had to be cancelled when it was over.
        self.overdue: list[str] = []

    def add(self, member: RunnableHandle) -> None:
        """Take a runnable in: started with the group, or at once if the group runs already."""
        self._members.append(member)
        if self._is_running:
            member.start(self.group, self._ended, self._context)

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """Those that have not ended, in the order in which they came."""
        return tuple(self._members)

    @property
    def has_ended(self) -> bool:
        """Whether no member runs."""
        return not any(member.is_running for member in self._members)

    async def start(self, context: Context) -> None:
        """Start every member, in a copy of a context each, and wait until all of them are ready."""
        self._is_running = True
        self._context = context
        for member in self._members:
            member.start(self.group, self._ended, context)
        async with asyncio.TaskGroup() as waiting:
            for member in self._members:
                waiting.create_task(member.wait_until_ready(), name=f"{self.group}/{member.name} ready")

    async def stop(self, deadline: Deadline) -> None:
        """Ask every member to stop, wait for them until the deadline, then cancel who is left."""
        self._is_running = False  # who is added now waits for the next start
        members = {member.task: member for member in self._members if member.task is not None and member.is_running}
        if not members:
            return
        self._log_stopping(members.values())
        has_time = not deadline.is_over
        would_finish = [task for task, member in members.items() if member.ask_to_stop()]
        try:
            await deadline.wait(members)
        except asyncio.CancelledError:
            deadline.expire()  # whoever waits for us has lost patience, the groups after us need not wait either
            raise
        finally:
            late = [task for task in members if not task.done()]
            if has_time:
                self.overdue += sorted(task.get_name() for task in late)
            elif cut_off := sorted(task.get_name() for task in late if task in would_finish):
                log.warning("No time is left to wait for others, cancelling them too", extra={"runnables": cut_off})
            await cancel_remaining(late)

    def _log_stopping(self, leaving: Iterable[RunnableHandle]) -> None:
        # events are written to the end of every manager; what is announced is what not every one has
        if self.group is not Group.SERVERS or any(isinstance(member.runnable, HttpServer) for member in leaving):
            log.info(_STOP_MESSAGES[self.group])

    def _ended(self, member: RunnableHandle) -> None:
        error = member.error()
        if error is not None and self._is_running:
            self._failed(member.name, error)
        elif error is not None:
            log_error_after_stop(member.name, error)
        if not self.keeps_members:
            self._members.remove(member)


async def cancel_remaining(late: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks, and log who has not even ended then: the program goes on without them."""
    try:
        await end(late, patience=CANCEL_TIMEOUT)
    finally:
        for task in late:
            if not task.done():
                text = "A runnable ignores that it was cancelled and is left behind"
                log.error(text, extra={"runnable": task.get_name()})


def log_error_after_stop(name: str, error: BaseException) -> None:
    """Log the failure of a runnable that had been told to stop: it ends nothing any more."""
    log.error("error received after stop sequence was engaged", extra={"runnable": name}, exc_info=error)
