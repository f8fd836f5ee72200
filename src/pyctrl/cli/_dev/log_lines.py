"""Last lines of the log, and of the program's output, while the screen of `pyctrl dev` is shown."""

from __future__ import annotations

import io
from collections import deque

__all__ = ["LogLines"]

KEPT = 1000


class LogLines(io.StringIO):
    """A stream that keeps its last lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=KEPT)
        #: The number of lines written so far.
        self.total: int = 0

    def write(self, text: str) -> int:
        """Keep the lines of a text."""
        lines = [line for line in text.split("\n") if line]
        self.lines.extend(lines)
        self.total += len(lines)
        return len(text)

    def after(self, count: int) -> list[str]:
        """Return the lines after the first ``count`` ones, as far as they are kept."""
        new = min(self.total - count, len(self.lines))
        return list(self.lines)[len(self.lines) - new :]
