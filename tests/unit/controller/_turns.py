"""Counter of steps within one turn of the event loop."""

from __future__ import annotations

import asyncio


class Turns:
    """Counts the most steps made without a turn of the event loop."""

    def __init__(self) -> None:
        self.most = self._steps = 0

    def step(self) -> None:
        """Count a step."""
        if not self._steps:
            asyncio.get_running_loop().call_soon(self._turn)
        self._steps += 1
        self.most = max(self.most, self._steps)

    def _turn(self) -> None:
        self._steps = 0
