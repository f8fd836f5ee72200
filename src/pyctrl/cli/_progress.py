"""Progress of a command on stderr: a spinner on a terminal, lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pyctrl.cli._output import is_terminal

__all__ = ["Progress", "progress_line"]

FIRST_REPORT_SECONDS = 2.0  # shorter waits are not reported
REPEAT = 30.0  # seconds between two lines
FRAME_SECONDS = 0.1  # of the spinner
FRAMES = "|/-\\"

CLEAR = "\r\x1b[K"


class Progress:
    """Reports on stderr what a command waits for: ``with Progress("the API server") as progress: ...``.

    Needs a running event loop. Reports nothing in the first two seconds; then shows a spinner on a terminal, which
    disappears at the end, and elsewhere prints a line every half minute.

    Args:
        what: the text after "waiting for".
        quiet: report nothing, because another program reads the output.
        tell: prints a line instead of a spinner, such as `progress_line`; None: a spinner on a terminal.
    """

    def __init__(self, what: str, *, quiet: bool = False, tell: Callable[[str], object] | None = None) -> None:
        self.what: str = what
        self._is_quiet = quiet
        self._spins = tell is None and is_terminal(sys.stderr)
        self._tell = tell or progress_line
        self._timer: asyncio.TimerHandle | None = None
        self._started = 0.0
        self._frame = 0

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        if not self._is_quiet:
            self._timer = loop.call_later(FIRST_REPORT_SECONDS, self._show)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.clear()

    def clear(self) -> None:
        """Remove the spinner before other output; it is drawn again afterwards."""
        if self._frame:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
            self._frame = 0

    def _show(self) -> None:
        loop = asyncio.get_running_loop()
        text = f"waiting for {self.what} ({loop.time() - self._started:.0f}s)"
        if self._spins:
            self._frame += 1
            sys.stderr.write(f"{CLEAR}{FRAMES[self._frame % len(FRAMES)]} {text}")
            sys.stderr.flush()
        else:
            self._tell(text)
        self._timer = loop.call_later(FRAME_SECONDS if self._spins else REPEAT, self._show)


def progress_line(text: str) -> None:
    """Print a line to stderr: for a `Progress` beside logs, which would garble a spinner."""
    print(text, file=sys.stderr, flush=True)
