"""Progress of an exploration on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from pyctrl.cli._output import is_terminal
from pyctrl.simulation import Attempt, Story

__all__ = ["Bar"]

CLEAR = "\r\x1b[K"
CELLS = 24
LINE_SECONDS = 30.0  # of simulation between two lines


class Bar:
    """Shows how many plans were tried and what was found. It is the progress of `pyctrl.simulation`.

    Args:
        stream: Where to write; None: nowhere, because another program reads the output.
    """

    def __init__(self, stream: TextIO | None = sys.stderr) -> None:
        self.is_stopped: bool = False
        self._stream = stream
        self._redraws = stream is not None and is_terminal(stream)
        self._planned = self._tried = self._failed = self._found = 0
        self._seconds = 0.0
        self._next_line = LINE_SECONDS

    def planned(self, number: int) -> None:
        """Show the number of systematic plans."""
        self._planned = number
        if not self._redraws:
            self._print(f"{number} plans")

    def tried(self, attempt: Attempt) -> None:
        """Count a run."""
        self._tried += 1
        self._failed += bool(attempt.outcome.problems)
        self._seconds += attempt.seconds
        if self._redraws:
            self._draw(str(attempt.plan.schedule) or "without faults")
        elif self._seconds >= self._next_line:
            self._next_line = self._seconds + LINE_SECONDS
            self._print(self._state)

    def told(self, story: Story) -> None:
        """Print the title of a story."""
        self._found += 1
        self.clear()
        cause = story.guess.partition(":")[0]
        self._print(f"found: {story.title}" + (f" (probably: {cause})" if cause else ""))

    def stop(self) -> None:
        """Ask the exploration to end."""
        self.is_stopped = True
        self.clear()
        self._print("stopping after this run; press Ctrl-C again to stop now")

    def clear(self) -> None:
        """Remove the bar before other output."""
        if self._redraws and self._stream is not None:
            self._stream.write(CLEAR)
            self._stream.flush()

    @property
    def _state(self) -> str:
        parts = [f"{self._tried} of {self._planned} plans" if self._tried <= self._planned else f"{self._tried} runs"]
        parts += [f"{self._failed} failed"] if self._failed else []
        parts += [f"{self._found} found"] if self._found else []
        return ", ".join(parts)

    def _draw(self, now: str) -> None:
        assert self._stream is not None
        share = min(1.0, self._tried / self._planned) if self._planned else 0.0
        done = round(share * CELLS)
        line = f"[{'#' * done}{'-' * (CELLS - done)}] {self._state}  {now}"
        self._stream.write(f"{CLEAR}{line[: shutil.get_terminal_size().columns - 1]}")
        self._stream.flush()

    def _print(self, text: str) -> None:
        if self._stream is not None:
            print(text, file=self._stream, flush=True)
