"""Protocols of runnables, and the handle of a running one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pyctrl._tasks import unwrapped
from pyctrl.errors import ManagerError
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from pyctrl.manager._runnables.restart import Restarts

__all__ = [
    "CheckedRunnable",
    "GroupRunnable",
    "LeaderElectionRunnable",
    "NeedsPermissions",
    "ReadyRunnable",
    "Runnable",
    "RunnableHandle",
    "RunnableLike",
    "StoppableRunnable",
    "runs_on_every_replica",
]

log = logging.getLogger("pyctrl.manager")


@runtime_checkable
class Runnable(Protocol):
    """An object with ``async def run()``, which the manager runs as a task.

    It may return early. If it raises, the manager stops, unless the runnable was added with a `Restart`. When the
    manager stops, it cancels `run`, which may clean up in ``finally`` within the grace period. A runnable that finishes
    its work first also has ``ask_to_stop`` (see `StoppableRunnable`).
    """

    async def run(self) -> None:
        """Run until the work is done or the task is cancelled."""


@runtime_checkable
class StoppableRunnable(Protocol):
    """A runnable that stops on request, and is cancelled only after the grace period."""

    def ask_to_stop(self) -> None:
        """Start no new work, and let `run` return once running work is done."""


@runtime_checkable
class ReadyRunnable(Protocol):
    """A runnable that later groups wait for."""

    async def wait_until_ready(self) -> None:
        """Return when the runnable is ready; raise if it cannot become ready."""


#: A runnable, or just its `run`: an async function without arguments.
RunnableLike = Runnable | Callable[[], Awaitable[None]]


@runtime_checkable
class NeedsPermissions(Protocol):
    """A runnable that declares the permissions it needs, as controllers do."""

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that it needs."""
        ...


@runtime_checkable
class LeaderElectionRunnable(Protocol):
    """A runnable that declares whether it needs leader election."""

    @property
    def only_leader(self) -> bool:
        """Whether only the leader runs it; False: every replica does."""
        ...


@runtime_checkable
class GroupRunnable(Protocol):
    """A runnable that names its group."""

    @property
    def manager_group(self) -> str:
        """The name of its `Group` when it is added without ``group=``."""
        ...


@runtime_checkable
class CheckedRunnable(Protocol):
    """A runnable with a readiness check: ``/readyz`` has a check of its name."""

    @property
    def why_not_ready(self) -> str:
        """The reason why it is not ready; "" when it is."""
        ...


class RunnableHandle:
    """One runnable of a group, with its task and its restarts."""

    def __init__(self, runnable: RunnableLike, restarts: Callable[[str], Restarts] | None = None) -> None:
        if not isinstance(runnable, Runnable) and not callable(runnable):
            raise ManagerError(
                "add() takes an object with `async def run(self)`, or an async function without arguments, "
                f"got {runnable!r}"
            )
        self.name = _name_of(runnable)
        self.runnable: object = runnable
        #: Runs it again after it has ended; None without `Restart`.
        self.restarts: Restarts | None = restarts(self.name) if restarts is not None else None
        self._run: Callable[[], Awaitable[None]] = runnable.run if isinstance(runnable, Runnable) else runnable
        self.task: asyncio.Task[None] | None = None
        self._is_asked_to_stop = False
        #: Whether it was cancelled when it was asked to stop, so that it may be cleaning up.
        self.is_cancelled: bool = False

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that it declares."""
        return self.runnable.rbac if isinstance(self.runnable, NeedsPermissions) else ()

    @property
    def is_running(self) -> bool:
        """Whether it has started and not ended; also true while it waits for a restart."""
        return self.task is not None and not self.task.done()

    @property
    def why_restarting(self) -> str:
        """The reason why it is being restarted; "" if it is not."""
        return self.restarts.why_restarting if self.restarts is not None and self.is_running else ""

    def start(self, group: str, ended: Callable[[RunnableHandle], None], context: Context) -> None:
        """Run it in a new task; call ``ended`` when the task is done."""
        self._is_asked_to_stop = self.is_cancelled = False
        if self.restarts is not None:
            self.restarts.reset()
        self.task = asyncio.create_task(self._run_all(), name=f"{group}/{self.name}", context=context.copy())
        self.task.add_done_callback(lambda _task: ended(self))

    async def wait_until_ready(self) -> None:
        """Wait until the runnable is ready."""
        if self.restarts is not None:
            await self.restarts.wait_until_ready()
        elif isinstance(self.runnable, ReadyRunnable):
            await self.runnable.wait_until_ready()

    def ask_to_stop(self) -> bool:
        """Ask it to stop, once; return False if it had to be cancelled instead."""
        if self._is_asked_to_stop:
            return True  # a second cancellation would interrupt its cleanup
        self._is_asked_to_stop = True
        is_waiting = self.restarts is not None and self.restarts.is_waiting
        if isinstance(self.runnable, StoppableRunnable) and not is_waiting:
            try:
                self.runnable.ask_to_stop()
            except Exception:
                log.exception("Failed to ask a runnable to stop, cancelling it", extra={"runnable": self.name})
            else:
                return True
        if self.task is not None:
            self.task.cancel()
        self.is_cancelled = True
        return False

    def error(self) -> BaseException | None:
        """Return the error that ended it, if any."""
        return None if self.task is None or self.task.cancelled() else self.task.exception()

    async def _run_all(self) -> None:
        """Run the runnable, and again after it has ended if it has restarts."""
        if self.restarts is None:
            await self._finish(self._run())
        else:
            await self.restarts.run(self._run_once, lambda: self._is_asked_to_stop)

    async def _run_once(self, became_ready: Callable[[], None]) -> None:
        if isinstance(self.runnable, ReadyRunnable):
            await self._finish(_run_and_wait_until_ready(self._run(), self.runnable, became_ready))
        else:
            became_ready()
            await self._finish(self._run())

    async def _finish(self, run: Awaitable[None]) -> None:
        """Await a run, and raise a ManagerError if anything but the manager cancels it."""
        task = asyncio.current_task()
        assert task is not None  # a coroutine always runs in one
        try:
            await run
        except asyncio.CancelledError:
            if self._is_asked_to_stop:
                raise
            while task.cancelling():
                task.uncancel()
            raise ManagerError(f"{self.name} was cancelled, but not by its manager") from None


async def _run_and_wait_until_ready(
    run: Awaitable[None], runnable: ReadyRunnable, became_ready: Callable[[], None]
) -> None:
    """Run a runnable and wait until it is ready, concurrently; fail if either fails."""

    async def prepare() -> None:
        await runnable.wait_until_ready()
        became_ready()

    with unwrapped():
        async with asyncio.TaskGroup() as group:
            preparing = group.create_task(prepare(), name="ready")
            await run
            preparing.cancel()


def runs_on_every_replica(runnable: object) -> bool:
    """Return whether every replica runs the runnable, not only the leader."""
    return isinstance(runnable, LeaderElectionRunnable) and not runnable.only_leader


def _name_of(runnable: object) -> str:
    name = getattr(runnable, "name", None) or getattr(runnable, "__qualname__", None)
    return name if isinstance(name, str) else type(runnable).__name__
