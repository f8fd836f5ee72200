"""Commands that run until a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["run_until_signal"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def run_until_signal(work: Coroutine[Any, Any, None], *, is_ready: Callable[[], object]) -> int:
    """Run until Ctrl-C or SIGTERM; a second signal ends the process immediately.

    Returns 0, or 128 plus the number of the signal if it came before the command was ready, as shells report it.
    """
    received: list[int] = []
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop(number: int) -> None:
        received.append(number)
        task.cancel()
        for each in SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)

    for each in SIGNALS:
        loop.add_signal_handler(each, stop, each)
    try:
        await work
    except asyncio.CancelledError:
        if not received:
            raise
    return 0 if is_ready() else 128 + received[0]
