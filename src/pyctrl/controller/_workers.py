"""Workers: tasks that take requests from the queue and handle them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pyctrl._time_slices import TimeSlice
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.work_item import WorkItem
from pyctrl.errors import QueueClosed

__all__ = ["Workers"]


class Workers:
    """Tasks that handle the items of a queue, ``count`` at the same time; ``count`` can change at any time.

    A worker that is no longer needed finishes its item first. Between items a worker yields to the event loop when its
    time slice is over: a reconcile that reads from the cache only never suspends by itself.
    """

    def __init__(self, name: str, queue: Queue, handle: Callable[[WorkItem], Awaitable[None]], *, count: int) -> None:
        self._name = name
        self._queue = queue
        #: Handles an item; set before the workers start.
        self.handle: Callable[[WorkItem], Awaitable[None]] = handle
        self._count = count
        self._number = 0
        self._group: asyncio.TaskGroup | None = None
        # Dictionaries as ordered sets, so that runs are repeatable.
        self._idle: dict[asyncio.Task[None], None] = {}
        self._busy: dict[asyncio.Task[None], None] = {}

    @property
    def count(self) -> int:
        """The number of workers that should run."""
        return self._count

    @count.setter
    def count(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"at least one worker is needed, got {count}")
        self._count = count
        self._adjust()

    @property
    def active(self) -> int:
        """The number of workers that are handling an item."""
        return len(self._busy)

    @property
    def alive(self) -> int:
        """The number of running workers; fewer than `count` when one was cancelled."""
        return len(self._idle) + len(self._busy)

    def start(self, group: asyncio.TaskGroup) -> None:
        """Start the workers as tasks in ``group``; they end when the queue is closed."""
        self._group = group
        self._adjust()

    def _adjust(self) -> None:
        if self._group is None or self._queue.is_closed:
            return
        for _ in range(self._count - len(self._idle) - len(self._busy)):
            self._number += 1
            task = self._group.create_task(self._run_worker(), name=f"{self._name}/worker {self._number}")
            self._idle[task] = None
            task.add_done_callback(self._remove)
        for task in list(self._idle)[: max(0, len(self._idle) + len(self._busy) - self._count)]:
            self._idle.pop(task, None)
            task.cancel()

    async def _run_worker(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # a coroutine always runs in one
        loop, slice_ = asyncio.get_running_loop(), TimeSlice.current()
        try:
            while task in self._idle:
                async with self._queue.take() as item:
                    self._idle.pop(task, None)
                    self._busy[task] = None
                    await self.handle(item)
                self._busy.pop(task, None)
                if len(self._idle) + len(self._busy) < self._count:
                    self._idle[task] = None
                if self._queue.has_ready and slice_.is_over(item.ended or loop.time()):
                    await slice_.renew()
        except QueueClosed:
            return

    def _remove(self, task: asyncio.Task[None]) -> None:
        self._idle.pop(task, None)
        self._busy.pop(task, None)
