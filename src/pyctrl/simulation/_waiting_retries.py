"""Retries of failed reconciles that the world waits for before it judges."""

from __future__ import annotations

import asyncio

from pyctrl.simulation._history import Reconciled

__all__ = ["WaitingRetries"]

LONGEST_RETRY = 1200.0  # seconds: the longest backoff of 1000 s, and 20 % more
PAUSE = 5.0  # seconds between two looks


class WaitingRetries:
    """The reconciles that failed last, and wait for their backoff."""

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str, str], float] = {}

    def note(self, entry: Reconciled, now: float) -> None:
        """Note the end of a reconcile."""
        key = entry.process, entry.controller, entry.request
        self._failed.pop(key, None)
        if entry.error:
            self._failed[key] = now

    def forget(self, process: str) -> None:
        """Forget the retries of a process that died."""
        self._failed = {key: at for key, at in self._failed.items() if key[0] != process}

    async def run_out(self) -> None:
        """Wait until every reconcile that failed before now was tried again."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while any(at <= begun for at in self._failed.values()) and loop.time() < begun + LONGEST_RETRY:
            await asyncio.sleep(PAUSE)
