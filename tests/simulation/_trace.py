"""Trace of a history with virtual times: printed on failure, and compared between two runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

SHOWN = 400  # lines of a failing history that are printed


class Trace:
    """The lines of one history."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Add a line."""
        self.lines.append(f"{asyncio.get_running_loop().time():10.3f}  {text}")

    def shown(self) -> Iterator[str]:
        """Return the end of the trace for a failure message."""
        if len(self.lines) > SHOWN:
            yield f"… {len(self.lines) - SHOWN} lines before these"
        yield from self.lines[-SHOWN:]


class HistoryFailed(AssertionError):
    """Raised with the seed and the trace of a failed history."""

    def __init__(self, seed: int, problem: BaseException, trace: Trace) -> None:
        lines = "\n".join(trace.shown())
        super().__init__(f"history {seed}: {problem!r}\n{lines}\nhistory {seed}: {problem}")
