"""What a command waits for, told on stderr once that takes a while."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from pyctrl.api import Access

__all__ = ["Progress", "access_to_wire", "has_colour", "is_terminal", "print_json", "progress_line"]


FIRST_REPORT_SECONDS = 2.0  # seconds; who waits for less does not wonder
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


def progress_line(text: str) -> None:
    """Print a line to stderr: for a `Progress` beside logs, which a spinner would mix with."""
    print(text, file=sys.stderr, flush=True)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream ends at something that can redraw a line."""
    return stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


def has_colour(stream: TextIO) -> bool:
    """Whether to print colours: on a terminal that knows them, unless NO_COLOR (https://no-color.org) is set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def print_json(value: Any) -> None:
    """Print a value, for people to read too."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def access_to_wire(access: Access) -> Mapping[str, str]:
    """Return a right as SelfSubjectAccessReview names its parts; what says nothing is left out."""
    fields = {name: value for name, value in access._asdict().items() if value and name != "is_resource"}
    return {"group": access.group, **fields} if access.is_resource else fields
