"""What a manager runs, and one of them while it runs."""

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
    """Something with one life: `run` begins it and returns when it is over.

    Returning early is fine, raising stops the manager, unless it was added with a `Restart`: then it runs again.
    When the manager stops, `run` is cancelled; it may clean up in ``finally`` as long as the grace period lasts. A
    runnable that wants to finish its work first has ``ask_to_stop`` as well (see `StoppableRunnable`).
    """

    async def run(self) -> None:
        """Live until the work is done or the task is cancelled."""


@runtime_checkable
class StoppableRunnable(Protocol):
    """A runnable that ends by itself when asked, and is cancelled only when the grace period is over."""

    def ask_to_stop(self) -> None:
        """Begin no new work, and return from `run` once what was begun is done."""


@runtime_checkable
class ReadyRunnable(Protocol):
    """A runnable that the groups after it must wait for."""

    async def wait_until_ready(self) -> None:
        """Return when others may rely on it; raise when that will not happen."""


#: A runnable, or just its `run`: an async function without arguments.
RunnableLike = Runnable | Callable[[], Awaitable[None]]


@runtime_checkable
class NeedsPermissions(Protocol):
    """A runnable that says which rights it needs, as controllers do."""

    @property
    def rbac(self) -> Sequence[Permission]:
        """What it does with the API server."""
        ...


@runtime_checkable
class LeaderElectionRunnable(Protocol):
    """A runnable that says whether one replica is enough."""

    @property
    def only_leader(self) -> bool:
        """False: every replica runs it, leader or not."""
        ...


@runtime_checkable
class GroupRunnable(Protocol):
    """A runnable that says when it has to start."""

    @property
    def manager_group(self) -> str:
        """The name of a `Group`, for those who add it without one."""
        ...


@runtime_checkable
class CheckedRunnable(Protocol):
    """A runnable that counts for readiness: it has a check of its name in ``/readyz``."""

    @property
    def why_not_ready(self) -> str:
        """Say why others cannot rely on it now; "" when they can."""
        ...


class RunnableHandle:
    """One runnable in its group: its task, how it is asked to stop, and whether it lives more than once."""

    def __init__(self, runnable: RunnableLike, restarts: Callable[[str], Restarts] | None = None) -> None:
        if not isinstance(runnable, Runnable) and not callable(runnable):
            raise ManagerError(
                "add() takes an object with `async def run(self)` or an async function without arguments, "
                f"got {runnable!r}"
            )
        self.name = _name_of(runnable)
        self.runnable: object = runnable
        #: Its lives; None when it has one.
        self.restarts: Restarts | None = restarts(self.name) if restarts is not None else None
        self._run: Callable[[], Awaitable[None]] = runnable.run if isinstance(runnable, Runnable) else runnable
        self.task: asyncio.Task[None] | None = None
        self._is_asked = False

    @property
    def rbac(self) -> Sequence[Permission]:
        """What it needs, where it says so."""
        return self.runnable.rbac if isinstance(self.runnable, NeedsPermissions) else ()

    @property
    def is_running(self) -> bool:
        """Whether its life has begun and is not over; between two lives too."""
        return self.task is not None and not self.task.done()

    @property
    def why_down(self) -> str:
        """Say why it waits for its next life; "" where it lives, or has only one."""
        return self.restarts.why_down if self.restarts is not None and self.is_running else ""

    def start(self, group: str, ended: Callable[[RunnableHandle], None], context: Context) -> None:
        """Begin its life in a task of its own; ``ended`` is called when that is over."""
        self._is_asked = False
        if self.restarts is not None:
            self.restarts.begin()
        self.task = asyncio.create_task(self._live(), name=f"{group}/{self.name}", context=context.copy())
        self.task.add_done_callback(lambda _task: ended(self))

    async def wait_until_ready(self) -> None:
        """Wait until others may rely on it."""
        if self.restarts is not None:
            await self.restarts.wait_until_ready()
        elif isinstance(self.runnable, ReadyRunnable):
            await self.runnable.wait_until_ready()

    def ask_to_stop(self) -> bool:
        """Ask it to end, once, and say whether it does so by itself; otherwise it has been cancelled."""
        if self._is_asked:
            return True  # a second cancellation would end its cleaning up
        self._is_asked = True
        is_between_lives = self.restarts is not None and self.restarts.is_waiting
        if isinstance(self.runnable, StoppableRunnable) and not is_between_lives:
            try:
                self.runnable.ask_to_stop()
            except Exception:
                log.exception("A runnable failed when asked to stop, cancelling it", extra={"runnable": self.name})
            else:
                return True
        if self.task is not None:
            self.task.cancel()
        return False

    def error(self) -> BaseException | None:
        """Return what ended it, if that was an error."""
        return None if self.task is None or self.task.cancelled() else self.task.exception()

    async def _live(self) -> None:
        if self.restarts is None:
            await self._until_its_end(self._run())
        else:
            await self.restarts.run(self._live_once, lambda: self._is_asked)

    async def _live_once(self, became_ready: Callable[[], None]) -> None:
        if isinstance(self.runnable, ReadyRunnable):
            await self._until_its_end(_run_and_wait_until_ready(self._run(), self.runnable, became_ready))
        else:
            became_ready()
            await self._until_its_end(self._run())

    async def _until_its_end(self, life: Awaitable[None]) -> None:
        """Await a life, and take it for a failure when something has cancelled it that had no business to."""
        task = asyncio.current_task()
        assert task is not None  # a coroutine always runs in one
        try:
            await life
        except asyncio.CancelledError:
            if self._is_asked:
                raise
            while task.cancelling():
                task.uncancel()
            raise ManagerError(f"{self.name} was cancelled, by something else than its manager") from None


async def _run_and_wait_until_ready(
    run: Awaitable[None], runnable: ReadyRunnable, became_ready: Callable[[], None]
) -> None:
    """Run, and beside that wait until it is ready; when that fails, so does the whole."""

    async def prepare() -> None:
        await runnable.wait_until_ready()
        became_ready()

    with unwrapped():
        async with asyncio.TaskGroup() as group:
            preparing = group.create_task(prepare(), name="ready")
            await run
            preparing.cancel()


def runs_on_every_replica(runnable: object) -> bool:
    """Whether it says that every replica is to run it."""
    return isinstance(runnable, LeaderElectionRunnable) and not runnable.only_leader


def _name_of(runnable: object) -> str:
    name = getattr(runnable, "name", None) or getattr(runnable, "__qualname__", None)
    return name if isinstance(name, str) else type(runnable).__name__
