"""What a manager runs, and one of them while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Protocol, runtime_checkable

from pyctrl.errors import ManagerError
from pyctrl.rbac import Permission

__all__ = [
    "Checkable",
    "Entitled",
    "Member",
    "Placed",
    "Preparable",
    "Replicable",
    "Runnable",
    "RunnableLike",
    "Stoppable",
    "is_replicated",
]

log = logging.getLogger("pyctrl.manager")


@runtime_checkable
class Runnable(Protocol):
    """Something with one life: `run` begins it and returns when it is over.

    Returning early is fine, raising stops the manager. When the manager stops, `run` is cancelled; it may clean up
    in ``finally`` as long as the grace period lasts. A runnable that wants to finish its work first has
    ``ask_to_stop`` as well (see `Stoppable`).
    """

    async def run(self) -> None:
        """Live until the work is done or the task is cancelled."""


@runtime_checkable
class Stoppable(Protocol):
    """A runnable that ends by itself when asked, and is cancelled only when the grace period is over."""

    def ask_to_stop(self) -> None:
        """Begin no new work, and return from `run` once what was begun is done."""


@runtime_checkable
class Preparable(Protocol):
    """A runnable that the groups after it must wait for."""

    async def wait_until_ready(self) -> None:
        """Return when others may rely on it; raise when that will not happen."""


#: A runnable, or just its `run`: an async function without arguments.
RunnableLike = Runnable | Callable[[], Awaitable[None]]


@runtime_checkable
class Entitled(Protocol):
    """A runnable that says which rights it needs, as controllers do."""

    @property
    def rbac(self) -> Sequence[Permission]:
        """What it does with the API server."""
        ...


@runtime_checkable
class Replicable(Protocol):
    """A runnable that says whether one replica is enough."""

    @property
    def only_leader(self) -> bool:
        """False: every replica runs it, leader or not."""
        ...


@runtime_checkable
class Placed(Protocol):
    """A runnable that says when it has to start."""

    @property
    def manager_group(self) -> str:
        """The name of a `Group`, for those who add it without one."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """A runnable that counts for readiness: it has a check of its name in ``/readyz``."""

    @property
    def why_not_ready(self) -> str:
        """Say why others cannot rely on it now; "" when they can."""
        ...


class Member:
    """One runnable in its group: its task, and how it is asked to stop."""

    def __init__(self, runnable: RunnableLike) -> None:
        if not isinstance(runnable, Runnable) and not callable(runnable):
            raise ManagerError(
                "add() takes an object with `async def run(self)` or an async function without arguments, "
                f"got {runnable!r}"
            )
        self.name = _name_of(runnable)
        self.runnable: object = runnable
        self._run: Callable[[], Awaitable[None]] = runnable.run if isinstance(runnable, Runnable) else runnable
        self.task: asyncio.Task[None] | None = None
        self._is_asked = False

    @property
    def rbac(self) -> Sequence[Permission]:
        """What it needs, where it says so."""
        return self.runnable.rbac if isinstance(self.runnable, Entitled) else ()

    @property
    def is_running(self) -> bool:
        """Whether its life has begun and is not over."""
        return self.task is not None and not self.task.done()

    def start(self, group: str, ended: Callable[[Member], None], context: Context) -> None:
        """Begin its life in a task of its own; ``ended`` is called when that is over."""
        self._is_asked = False
        self.task = asyncio.create_task(self._live(), name=f"{group}/{self.name}", context=context.copy())
        self.task.add_done_callback(lambda _task: ended(self))

    async def wait_until_ready(self) -> None:
        """Wait until others may rely on it."""
        if isinstance(self.runnable, Preparable):
            await self.runnable.wait_until_ready()

    def ask_to_stop(self) -> bool:
        """Ask it to end, once, and say whether it does so by itself; otherwise it has been cancelled."""
        if self._is_asked:
            return True  # a second cancellation would end its cleaning up
        self._is_asked = True
        if isinstance(self.runnable, Stoppable):
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
        await self._run()


def is_replicated(runnable: object) -> bool:
    """Whether it says that every replica is to run it."""
    return isinstance(runnable, Replicable) and not runnable.only_leader


def _name_of(runnable: object) -> str:
    name = getattr(runnable, "name", None) or getattr(runnable, "__qualname__", None)
    return name if isinstance(name, str) else type(runnable).__name__
