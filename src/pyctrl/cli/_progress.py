"""What a command waits for, told on stderr once that takes a while."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pyctrl.cli._terminal import is_terminal

__all__ = ["Progress", "line"]

PATIENCE = 2.0  # seconds; who waits for less does not wonder
REPEAT = 30.0  # seconds between two lines, where nothing can be redrawn
TURN = 0.1  # seconds that a spinner shows one of its frames
FRAMES = "|/-\\"

CLEAR = "\r\x1b[K"


class Progress:
    """Says what is waited for: ``with Progress("the API server") as progress: ...``, on a running loop.

    Nothing in the first two seconds. Then on a terminal a spinner that goes when it is over, elsewhere a line, and
    another one each half a minute.

    Args:
        what: what is waited for, after "waiting for".
        quiet: say nothing at all, because a program reads what is printed.
        tell: where lines go; to stderr by default.
    """

    def __init__(self, what: str, *, quiet: bool = False, tell: Callable[[str], object] | None = None) -> None:
        self.what: str = what
        self._is_quiet = quiet
        self._spins = tell is None and is_terminal(sys.stderr)
        self._tell = tell or line
        self._timer: asyncio.TimerHandle | None = None
        self._started = 0.0
        self._frame = 0

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        if not self._is_quiet:
            self._timer = loop.call_later(PATIENCE, self._show)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.clear()

    def clear(self) -> None:
        """Take the spinner away, before something else is printed; it comes back."""
        if self._frame:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
            self._frame = 0

    def _show(self) -> None:
        loop = asyncio.get_running_loop()
        told = f"waiting for {self.what} ({loop.time() - self._started:.0f}s)"
        if self._spins:
            self._frame += 1
            sys.stderr.write(f"{CLEAR}{FRAMES[self._frame % len(FRAMES)]} {told}")
            sys.stderr.flush()
        else:
            self._tell(told)
        self._timer = loop.call_later(TURN if self._spins else REPEAT, self._show)


def line(text: str) -> None:
    """Print a line to stderr: for a `Progress` beside logs, which a spinner would mix with."""
    print(text, file=sys.stderr, flush=True)
