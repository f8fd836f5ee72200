"""Time limits on a real event loop, without waiting for them and whatever the speed of the machine."""

from __future__ import annotations

import asyncio

import pytest


async def elapse(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let time pass on the clock of the running loop, until the end of the test; timers that are due then fire."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)
    for _ in range(3):  # turns of the loop: a timer, the task that it cancels, and the one that awaits that task
        await asyncio.sleep(0)
