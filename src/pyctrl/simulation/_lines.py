"""Traces which lines of the user's program run, so that a search knows what is new."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from pyctrl._stack_frames import is_own

__all__ = ["LineTracer"]


class LineTracer:
    """Records lines of the program between `start` and `stop`, in this thread."""

    def __init__(self) -> None:
        self._lines: set[tuple[str, int]] = set()
        self._before: Any = None
        self._own: dict[str, bool] = {}

    def start(self) -> None:
        """Begin to trace."""
        self._before = sys.gettrace()
        sys.settrace(self._called)

    def stop(self) -> frozenset[str]:
        """End, and return the lines as ``FILE:LINE``, with the name of the file only."""
        sys.settrace(self._before)
        return frozenset(f"{Path(file).name}:{line}" for file, line in self._lines)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        own = self._own.get(file)
        if own is None:
            own = self._own[file] = is_own(file)
        return self._line if own else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line
