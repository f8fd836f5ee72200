"""Virtual event loop of a simulation: several processes, each of which can stand still, and their own wall clocks.

A task belongs to the process of the context in which it was created. The cluster, the network and the user belong to
none and never stand still.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar
from weakref import WeakSet

from pyctrl._time_slices import simulated_process
from pyctrl.testing import VirtualTimeLoop

__all__ = ["SimulationLoop", "context_of", "current_process", "simulation_loop"]

T = TypeVar("T")

#: The process of the running task; "" for everything else.
current_process = simulated_process


def context_of(process: str) -> Context:
    """Return a new context that belongs to a process. It has nothing of the current one, as a process that starts."""
    context = Context()
    context.run(current_process.set, process)
    return context


class _ReadyQueue(deque[Any]):
    """The ready queue of the loop. It withholds the handles of frozen processes, and counts those of the others."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen: dict[str, list[asyncio.Handle]] = {}
        self.counts: dict[str, int] = {}

    def append(self, handle: Any) -> None:
        name = handle._context.get(current_process)
        if name:
            if name in self.frozen:
                self.frozen[name].append(handle)
                return
            self.counts[name] = self.counts.get(name, 0) + 1
        super().append(handle)


class SimulationLoop(VirtualTimeLoop):
    """A virtual event loop with processes.

    A process that is frozen runs no callback, as after SIGSTOP; its timers fire, and their callbacks wait.

    Args:
        shuffle: Draws the order of the tasks that are ready at the same time; None keeps asyncio's order.
    """

    def __init__(self, *, shuffle: Random | None = None, limit: timedelta = timedelta(days=30)) -> None:
        super().__init__(limit=limit)
        self._ready = _ReadyQueue()
        self._shuffle = shuffle
        #: The difference of the wall clock of each process from that of the cluster.
        self.skew: dict[str, timedelta] = {}
        self._nothing = asyncio.Handle(lambda: None, (), self)
        self._nothing.cancel()
        self._tasks: dict[str, WeakSet[asyncio.Task[Any]]] = {}
        #: Called before each iteration with the number of callbacks that each process has run.
        self.on_iteration: Callable[[dict[str, int]], None] | None = None

    def freeze(self, process: str) -> None:
        """Stop running the callbacks of a process, also those that are ready now."""
        ready = self._ready
        if process in ready.frozen:
            return
        withheld = ready.frozen[process] = []
        for place, handle in enumerate(ready):
            if handle._context.get(current_process) == process:
                withheld.append(handle)
                ready[place] = self._nothing  # the running iteration has counted its handles

    def thaw(self, process: str) -> None:
        """Run the withheld callbacks of a process in their order, and go on."""
        for handle in self._ready.frozen.pop(process, []):
            self._ready.append(handle)

    def is_frozen(self, process: str) -> bool:
        """Return whether a process is frozen."""
        return process in self._ready.frozen

    def wall_time(self) -> datetime:
        """Return the wall-clock time of the calling process."""
        return super().wall_time() + self.skew.get(current_process.get(), timedelta(0))

    def select(self, timeout: float | None) -> list[Any]:
        """Advance time as `VirtualTimeLoop` does; then draw the order of the ready tasks."""
        found = super().select(timeout)
        if self.on_iteration is not None:
            self.on_iteration(self._ready.counts)
        if self._shuffle is not None and len(self._ready) > 1:
            self._reorder(self._shuffle)
        return found

    def _reorder(self, random: Random) -> None:
        """Permute the steps of tasks; other callbacks keep their places, because they may depend on their order."""
        ready = list(self._ready)
        places = [i for i, each in enumerate(ready) if isinstance(_owner(each), asyncio.Task)]
        if len(places) < 2:
            return
        order = places[:]
        random.shuffle(order)
        steps = [ready[i] for i in order]
        for place, step in zip(places, steps, strict=True):
            ready[place] = step
        self._ready.clear()
        self._ready.extend(ready)

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """Create a task, and note the process that it belongs to."""
        task: asyncio.Task[Any] = super().create_task(coro, **options)
        context = options.get("context")
        process = context.get(current_process, "") if context is not None else current_process.get()
        if process:
            self._tasks.setdefault(process, WeakSet()).add(task)
        return task

    def tasks_of(self, process: str) -> list[asyncio.Task[Any]]:
        """Return the tasks of a process in the order of their names."""
        return sorted(self._tasks.get(process, ()), key=lambda task: task.get_name())

    def start_task(self, process: str, coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Create a task that belongs to a process."""
        return self.create_task(coroutine, name=name, context=context_of(process))


def _owner(handle: asyncio.Handle) -> object:
    return getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]  # not in the stubs


def simulation_loop() -> SimulationLoop:
    """Return the running loop.

    Raises:
        RuntimeError: The running loop is not that of a simulation.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, SimulationLoop):
        raise RuntimeError(  # noqa: TRY004 - the loop that runs is no argument
            "this function works only inside of a simulation"
        )
    return loop
