"""List of rows with a cursor."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from pyctrl.cli._dev.row_list import RowList
from pyctrl.cli._dev.screen_rows import Row, RowTarget
from pyctrl.controller import Request

pytestmark = pytest.mark.real_time  # textual's timers


class ListApp(App[None]):
    """Only a list."""

    def compose(self) -> ComposeResult:
        yield RowList()


def rows(names: Sequence[str], text: str = "") -> list[Row]:
    """Return a title, a row for each name, and a note."""
    named = [Row(name, Content(f"{name} {text}"), RowTarget("box", Request("default", name))) for name in names]
    return [Row("title", Content("TITLE")), *named, Row("note", Content("and more"))]


async def test_the_cursor_stays_on_its_row() -> None:
    """The cursor begins at the first row with a target, and stays on it while rows change, appear and disappear."""
    app = ListApp()
    async with app.run_test(size=(20, 6)) as pilot:
        shown = app.query_one(RowList)
        shown.show(rows("bcd"))
        assert shown.target == RowTarget("box", Request("default", "b"))
        await pilot.press("j")
        for names in ("bcd", "abcd", "c"):
            shown.show(rows(names, "changed"))
            await pilot.pause()
            assert shown.target == RowTarget("box", Request("default", "c"))
        assert str(shown.get_option("c").prompt) == "c changed"
        shown.show(rows("xyz"))
        assert shown.target == RowTarget("box", Request("default", "x"))


async def test_titles_and_notes_can_be_seen() -> None:
    """The first row scrolls to the title above it, and the last one to the note below."""
    app = ListApp()
    async with app.run_test(size=(20, 6)) as pilot:
        shown = app.query_one(RowList)
        shown.show(rows("abcdefghijkl"))
        await pilot.pause()
        await pilot.press("G")
        while not 0 < shown.scroll_offset.y == shown.max_scroll_y:
            await pilot.pause(0.1)
        await pilot.press("g")
        while shown.scroll_offset.y > 0:
            await pilot.pause(0.1)
