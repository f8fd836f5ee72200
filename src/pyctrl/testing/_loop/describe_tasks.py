"""Descriptions of an event loop's tasks, for messages about tasks that wait or leak."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["describe", "describe_task", "describe_tasks"]

ASYNCIO = str(Path(asyncio.__file__).parent)


def describe_tasks(loop: asyncio.AbstractEventLoop) -> str:
    """Return one line for each unfinished task of ``loop``, sorted by name."""
    return describe(asyncio.all_tasks(loop))


def describe(tasks: Iterable[asyncio.Task[Any]]) -> str:
    """Return one line for each of ``tasks``, sorted by name."""
    return "\n".join(sorted(f"  {describe_task(task)}" for task in tasks)) or "  no task at all"


def describe_task(task: asyncio.Task[Any]) -> str:
    """Return the task's name, its coroutine, and its current line: the innermost one outside of asyncio."""
    coroutine = task.get_coro()
    frames = [frame for frame in _frames(coroutine) if not frame.f_code.co_filename.startswith(ASYNCIO)]
    title = f"{task.get_name()} ({getattr(coroutine, '__qualname__', coroutine)})"
    if not frames:
        return title
    code = frames[-1].f_code
    return f"{title} at {code.co_filename}:{frames[-1].f_lineno} in {code.co_qualname}"


def _frames(awaitable: Any) -> Iterator[FrameType]:
    """Follow a coroutine into what it awaits, down to the future at the end."""
    while awaitable is not None:
        for prefix in ("cr", "gi", "ag"):
            if (frame := getattr(awaitable, f"{prefix}_frame", None)) is not None:
                yield frame
                awaitable = getattr(awaitable, "gi_yieldfrom" if prefix == "gi" else f"{prefix}_await")
                break
        else:
            return
