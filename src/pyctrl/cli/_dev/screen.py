"""Screen of `pyctrl dev`: draws the view of a session, and handles keys. Needs the extra `dev`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.events import Print
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, RichLog, Static

from pyctrl.cli._dev.details_screen import DetailsScreen
from pyctrl.cli._dev.log_lines import LogLines
from pyctrl.cli._dev.row_list import RowList
from pyctrl.cli._dev.screen_rows import RowTarget, filtered, header, rows_of
from pyctrl.dev import DevSession, ObjectDetails, View, take_details, take_snapshot, view_of

__all__ = ["DevScreen"]

REFRESH_SECONDS = 0.5
SIDES = 2  # columns beside the rows: padding on the left, a scrollbar on the right

STYLE = """
Screen { background: $background; }
#header { padding: 0 1; height: auto; }
#objects, #objects:focus { height: 1fr; padding: 0 0 0 1; margin-top: 1; border: none; background: $background;
    background-tint: transparent; scrollbar-size-vertical: 1; }
#objects > .option-list--option-disabled { color: $foreground; }
#objects > .option-list--option-highlighted { background: $primary 25%; color: $foreground; text-style: none; }
#log { height: 40%; display: none; border-top: solid $primary; background: $background; padding: 0 1;
    overflow-x: hidden; scrollbar-size-vertical: 1; }
#filter { display: none; border: none; height: 1; background: $surface; padding: 0 1; }
#title { padding: 0 1; height: auto; max-height: 40%; }
#body { padding: 0 1; scrollbar-size-vertical: 1; }
Footer { background: $surface; }
Help { align: center middle; }
#help { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 1 2; background: $surface;
    border: round $primary; scrollbar-size-vertical: 1; }
"""

HELP = """\
[b $text-primary]Keys[/]
[b]enter[/]       details of an object: error, Events, YAML, owned, pods, reads
[b]↑ ↓ j k[/]     move; [b]g G[/] first and last; [b]page up, page down, space[/]
[b]/[/]           show only rows with a text; [b]escape[/] shows all again
[b]p[/]           freeze the screen, to read it; the program runs on
[b]l[/]           show or hide the log
[b]t[/]           dark or light
[b]q[/] [b]ctrl-c[/]    quit, and discard the cluster

[b $text-primary]Marks[/]
[b $text-error]✗[/] the last reconcile failed   [b $text-warning]![/] a mistake was found, or not ready
An error disappears when the object is reconciled successfully, or deleted.
[b]hot loop[/]: each reconcile is caused by a write of the one before.
[b]blocked event loop[/]: a call took a second or longer without an await.

[b $text-primary]Columns[/]
[b]RESULT[/]      of the last reconcile, and when the next one is due
[b]CAUSES[/]      why it ran: changes of objects, retries, requeues
[b]QUEUED[/]      requests that wait for a worker; [b]DELAYED[/] run later"""


class Help(ModalScreen[None]):
    """The keys, marks and columns."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,question_mark,enter,backspace", "app.pop_screen", "close")]

    def compose(self) -> ComposeResult:
        """Compose the text."""
        with VerticalScroll(id="help"):
            yield Static(HELP)


class DevScreen(App[None]):
    """Shows a session until `q` is pressed.

    Args:
        session: the session; the caller runs it.
        commands: lines below the title: how to reach the cluster.
        log_lines: the log, and what the program prints.
    """

    CSS = STYLE
    TITLE = "pyctrl dev"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("question_mark", "help", "help"),
        ("slash", "filter", "filter"),
        ("p", "pause", "pause"),
        ("l", "log", "log"),
        ("q", "quit", "quit"),
        ("ctrl+c", "quit"),
        ("t", "theme"),
        ("escape", "clear_filter"),
    ]

    def __init__(self, session: DevSession, commands: Sequence[str], log_lines: LogLines) -> None:
        super().__init__()
        self.session: DevSession = session
        #: The error that ended the screen, if there was one.
        self.failure: Exception | None = None
        #: Whether the screen shows an earlier view.
        self.is_paused: bool = False
        self._commands = commands
        self._log_lines = log_lines
        self._logged = 0
        self._view: View | None = None
        self._query = ""
        if _has_light_background() and "TEXTUAL_THEME" not in os.environ:
            self.theme = "textual-light"

    def compose(self) -> ComposeResult:
        """Compose the header, the rows, the log, the filter, and the keys."""
        yield Static(id="header")
        yield RowList()
        yield RichLog(id="log", max_lines=1000, min_width=1, wrap=True)
        yield Input(id="filter", placeholder="filter: a name, a kind, a result", compact=True)
        yield Footer(show_command_palette=False, compact=True)

    async def on_mount(self) -> None:
        """Start to draw."""
        # textual sets a task factory for the whole loop. The program must run as it does without a screen.
        asyncio.get_running_loop().set_task_factory(None)
        self.begin_capture_print(self)
        self.query_one(RowList).focus()
        await self._refresh()
        self.set_interval(REFRESH_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        if not self.is_paused:
            self._view = view_of(await take_snapshot(self.session), self.session.journal)
        self._draw()

    def _draw(self) -> None:
        # A refresh may end while textual ends the app, which removes the widgets first and the screen last.
        if self._view is None or not self.is_running or not self.screen_stack:
            return
        screen = self.screen_stack[0]
        width = self.size.width - SIDES
        top = header(self._view, self._commands, width, is_paused=self.is_paused, query=self._query)
        screen.query_one("#header", Static).update(top)
        screen.query_one(RowList).show(rows_of(filtered(self._view, self._query), width))
        log = screen.query_one(RichLog)
        if log.display and not self.is_paused:
            for line in self._log_lines.after(self._logged):
                log.write(line)
            self._logged = self._log_lines.total

    def on_resize(self) -> None:
        """Fit the rows to the new width."""
        self._draw()

    def on_print(self, event: Print) -> None:
        """Keep what the program prints."""
        self._log_lines.write(event.text)

    async def on_option_list_option_selected(self) -> None:
        """Open the details of the object under the cursor."""
        if (target := self.query_one(RowList).target) is not None:
            await self.push_screen(DetailsScreen(await self._details(target), lambda: self._current_details(target)))

    async def _details(self, target: RowTarget) -> ObjectDetails:
        return await take_details(self.session, target.controller, target.request)

    async def _current_details(self, target: RowTarget) -> ObjectDetails | None:
        return None if self.is_paused else await self._details(target)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Return whether a key does something now: filter and log belong to the list of objects."""
        return action not in ("filter", "clear_filter", "log") or len(self.screen_stack) == 1

    def action_pause(self) -> None:
        """Freeze the screen, or show the current view again."""
        self.is_paused = not self.is_paused
        self._draw()

    def action_log(self) -> None:
        """Show or hide the log."""
        log = self.query_one(RichLog)
        log.display = not log.display
        self._draw()

    def action_theme(self) -> None:
        """Change between the dark and the light theme."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Help())

    def action_filter(self) -> None:
        """Ask for a text."""
        field = self.query_one(Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the rows with the text."""
        self._query = event.value
        self._draw()

    def on_input_submitted(self) -> None:
        """Keep the filter, and go back to the rows."""
        self.query_one(Input).display = False
        self.query_one(RowList).focus()

    def action_clear_filter(self) -> None:
        """Show all rows."""
        self.query_one(Input).value = ""
        self.on_input_submitted()

    def _handle_exception(self, error: Exception) -> None:
        self.failure = self.failure or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """End without textual's traceback: the caller reports `failure`."""
        self._close_messages_no_wait()


def _has_light_background() -> bool:
    """Return whether the terminal says that its background is light, as rxvt, Konsole and others do."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
