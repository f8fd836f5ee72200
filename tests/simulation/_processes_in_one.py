"""Several processes in one virtual event loop, each of which can be stopped and has its own wall clock."""

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
    """Return the context of the tasks of a process."""
    context = copy_context()
    context.run(process.set, name)
    return context


class _Ready(deque[Any]):
    """The ready queue of the loop, without the handles of stopped processes."""

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
    """A virtual event loop whose processes can be stopped and continued, like SIGSTOP and SIGCONT."""

    def __init__(self) -> None:
        super().__init__()
        self._ready = _Ready()
        self.skew: dict[str, timedelta] = {}

    def stop_process(self, name: str) -> None:
        """Stop running handles of a process; its timers still fire and queue up."""
        self._ready.frozen.setdefault(name, [])

    def continue_process(self, name: str) -> None:
        """Run the queued handles in order, and continue the process."""
        for handle in self._ready.frozen.pop(name, []):
            self._ready.append(handle)

    def is_stopped(self, name: str) -> bool:
        """Return whether a process is stopped."""
        return name in self._ready.frozen

    def wall_time(self) -> datetime:
        """Return the wall-clock time of the calling process."""
        return super().wall_time() + self.skew.get(process.get(), timedelta(0))


def the_loop() -> ProcessLoop:
    """Return the running loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ProcessLoop)
    return loop
