"""Several processes in one virtual loop: each can stand still for a while, and each has a wall clock of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import Context, ContextVar, copy_context
from datetime import datetime, timedelta
from typing import Any

from pyctrl.testing import VirtualTimeLoop

#: Which process a task belongs to; "" for the world outside, which never stands still.
process: ContextVar[str] = ContextVar("process", default="")


def context_of(name: str) -> Context:
    """Return a context for the tasks of a process."""
    context = copy_context()
    context.run(process.set, name)
    return context


class _Ready(deque[Any]):
    """What the loop runs next, without what belongs to processes that stand still."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen: dict[str, list[asyncio.Handle]] = {}

    def append(self, handle: Any) -> None:
        name = handle._context.get(process, "")
        if name in self.frozen:
            self.frozen[name].append(handle)
        else:
            super().append(handle)


class ProcessLoop(VirtualTimeLoop):
    """A virtual loop whose processes can be stopped and continued, as SIGSTOP and SIGCONT do."""

    def __init__(self) -> None:
        super().__init__()
        self._ready = _Ready()
        self.skew: dict[str, timedelta] = {}

    def stop_process(self, name: str) -> None:
        """From now on nothing of a process runs; its timers go off all the same, and wait."""
        self._ready.frozen.setdefault(name, [])

    def continue_process(self, name: str) -> None:
        """Run what has become due meanwhile, in its order, and go on."""
        for handle in self._ready.frozen.pop(name, []):
            self._ready.append(handle)

    def is_stopped(self, name: str) -> bool:
        """Whether a process stands still."""
        return name in self._ready.frozen

    def wall_time(self) -> datetime:
        """Return the wall time, as the clock of the process that asks has it."""
        return super().wall_time() + self.skew.get(process.get(), timedelta(0))


def the_loop() -> ProcessLoop:
    """Return the loop that runs now."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ProcessLoop)
    return loop
