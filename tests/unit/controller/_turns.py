"""Counts what happens within one turn of the event loop."""

from __future__ import annotations

import asyncio


class Turns:
    """How many steps at most were made while nothing else on the loop could run."""

    def __init__(self) -> None:
        self.most = self._steps = 0

    def step(self) -> None:
        """Note a step."""
        if not self._steps:
            asyncio.get_running_loop().call_soon(self._turn)
        self._steps += 1
        self.most = max(self.most, self._steps)

    def _turn(self) -> None:
        self._steps = 0
