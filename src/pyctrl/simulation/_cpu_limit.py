"""Limit of the CPU time of a run in this process, for programs that loop without an await."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pyctrl._stack_frames import own_line, stack_of

__all__ = ["UsedTooMuchCpu", "cpu_limit"]


class UsedTooMuchCpu(KeyboardInterrupt):  # asyncio lets only this and SystemExit out of a task
    """Raised in the line that runs when the limit is reached."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `UsedTooMuchCpu` in the block after so many seconds of CPU; only in the main thread, and not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, frame: FrameType | None) -> None:
        line = own_line(stack_of(frame))
        raise UsedTooMuchCpu(f"the run used {seconds:g} s of CPU; it was at {line or 'a line of pyctrl'}")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
