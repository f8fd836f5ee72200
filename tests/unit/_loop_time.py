"""Time limits on a real event loop, without waiting for them and whatever the speed of the machine."""

from __future__ import annotations

import asyncio

import pytest


async def elapse_until_done(monkeypatch: pytest.MonkeyPatch, task: asyncio.Task[object], *, step: float) -> float:
    """Let time pass on the clock of the running loop until a task is done; return how much.

    It passes in steps of seconds, so that a limit that begins late, as on a busy machine, is reached as well.
    """
    loop, passed = asyncio.get_running_loop(), 0.0
    now, begun = loop.time, loop.time()
    monkeypatch.setattr(loop, "time", lambda: now() + passed)
    while not task.done():
        passed += step
        await asyncio.sleep(0.001)
    return loop.time() - begun
