"""Live view of `pyctrl dev` on a terminal: draws `pyctrl.dev.view_of`, and handles keys."""

from __future__ import annotations

import asyncio
import io
import sys
import termios
import tty
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from pyctrl.dev import DevSession, Table, View, take_snapshot, view_of

__all__ = ["LogLines", "Screen"]

REFRESH_SECONDS = 0.5
ERRORS = 5  # shown; the journal keeps more
LOG = 12  # lines of the log
SHRINK = ("ERROR", "CAUSES")  # columns that are truncated if a row is too long
OTHER_LINES = 16  # lines that are not objects: titles, controllers, errors, keys


class LogLines(io.StringIO):
    """A stream that keeps the last lines: of the log, and of the program's output."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=LOG)

    def write(self, text: str) -> int:
        """Keep the lines of a text."""
        self.lines.extend(line for line in text.split("\n") if line)
        return len(text)


class Screen:
    """Shows a session until `q` is pressed."""

    def __init__(self, session: DevSession, header: Sequence[str], log: LogLines) -> None:
        self._session = session
        self._header = header
        self._log = log
        self._view: View | None = None
        self._wake = asyncio.Event()
        self._is_quit = self._is_paused = self._shows_log = False

    async def run(self) -> None:
        """Run the session, and draw it."""
        console = Console(file=sys.__stdout__)
        display = Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        with display as live, self._keys(), redirect_stdout(self._log), redirect_stderr(self._log):
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self._session.run(), name="dev/follow")
                while not self._is_quit:
                    if self._view is None or not self._is_paused:
                        self._view = view_of(await take_snapshot(self._session), self._session.journal)
                    live.update(self._render(self._view, console), refresh=True)
                    await self._pause()
                following.cancel()

    def _render(self, view: View, console: Console) -> RenderableType:
        lines = list(self._log.lines)[-LOG:] if self._shows_log else []
        return render(view, header=self._header, lines=lines, height=console.height, is_paused=self._is_paused)

    async def _pause(self) -> None:
        self._wake.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._wake.wait()

    def press(self, key: str) -> None:
        """Handle a key."""
        self._is_quit |= key == "q"
        self._is_paused ^= key == "p"
        self._shows_log ^= key == "l"
        self._wake.set()

    @contextmanager
    def _keys(self) -> Iterator[None]:
        """Read single keys from stdin if it is a terminal."""
        if not sys.stdin.isatty():
            yield
            return
        file, loop = sys.stdin.fileno(), asyncio.get_running_loop()
        before = termios.tcgetattr(file)
        tty.setcbreak(file)  # Ctrl-C stays a signal
        loop.add_reader(file, lambda: self.press(sys.stdin.read(1)))
        try:
            yield
        finally:
            loop.remove_reader(file)
            termios.tcsetattr(file, termios.TCSADRAIN, before)


def render(
    view: View, *, header: Sequence[str], lines: Sequence[str], height: int, is_paused: bool = False
) -> RenderableType:
    """Draw a view.

    Args:
        view: the view.
        header: lines below the title: how to reach the cluster.
        lines: the lines of the log; empty: hidden.
        height: the height of the terminal; objects that do not fit are counted.
        is_paused: whether the view is paused.
    """
    keys = f"q quit   p {'resume' if is_paused else 'pause'}   l log"
    parts: list[RenderableType] = [_title(view), Text(keys, style="dim"), *(Text(line, style="dim") for line in header)]
    if view.problem:
        parts.append(Text(view.problem, style="bold red"))
    parts += [Text(), _controllers(view)]
    space = max(3, (height - OTHER_LINES - len(lines)) // max(1, len(view.tables)))
    parts += [_objects(table, space) for table in view.tables]
    if view.errors:
        parts += [Text(), _errors(view)]
    if lines:
        parts += [Text(), *(Text(line, no_wrap=True, overflow="ellipsis") for line in lines)]
    return Group(*parts)


def _title(view: View) -> Text:
    times = f"  reloaded {view.reloads} times" if view.reloads > 1 else "  reloaded" if view.reloads else ""
    return Text.assemble((view.name, "bold"), times, ("  previous version" if view.problem else "", "red"))


def _controllers(view: View) -> Grid:
    grid = _grid("CONTROLLER", "STATE", "RECONCILES", "PER SECOND", "MEAN", "ERRORS", "QUEUED", "DELAYED", "CAUSES")
    for row in view.controllers:
        grid.add_row(
            row.name,
            Text(row.state, style="" if row.is_ready else "yellow"),
            str(row.reconciles),
            f"{row.rate:.1f}",
            f"{row.took.total_seconds() * 1000:.1f} ms",
            Text(str(row.errors), style="red" if row.errors else ""),
            str(row.queued),
            str(row.waiting),
            _first_to_shrink(row.causes),
        )
    return grid


def _objects(table: Table, space: int) -> RenderableType:
    grid = _grid(table.kind.upper(), *(name.upper() for name in table.columns), "LAST RUN", "RESULT", "CAUSES")
    for row in table.rows[:space]:
        result = Text(row.outcome, style="red" if row.is_failed else "")
        grid.add_row(row.name, *row.cells, row.last, result, _first_to_shrink(row.causes))
    more = table.more + max(0, len(table.rows) - space)
    note = f"and {more} more" if more else "" if table.rows else "none"
    return Group(Text(), grid, *([Text(note, style="dim")] if note else []))


def _errors(view: View) -> Grid:
    grid = _grid("AGO", "OBJECT", "COUNT", "ERROR")
    for row in view.errors[:ERRORS]:
        grid.add_row(row.ago, row.where, str(row.times), Text(row.error, style="red"))
    return grid


def _grid(*titles: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="bold", expand=False)
    for title in titles:
        grid.add_column(title, no_wrap=title not in SHRINK, overflow="ellipsis")
    return grid


def _first_to_shrink(text: str) -> Text:
    """Return a cell of one line, in a column that is truncated before others."""
    return Text(text, no_wrap=True, overflow="ellipsis")
