"""List of the rows of the screen of `pyctrl dev`, with a cursor on objects and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pyctrl.cli._dev.screen_rows import Row, RowTarget

__all__ = ["RowList"]


class RowList(OptionList):
    """Shows rows, and keeps cursor and scroll position while they change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("j", "cursor_down"),
        ("k", "cursor_up"),
        ("g", "first"),
        ("G", "last"),
        ("space", "page_down"),
        ("enter", "select", "details"),
    ]

    def __init__(self) -> None:
        super().__init__(id="objects", markup=False, compact=True)
        self._targets: Mapping[str, RowTarget] = {}

    @property
    def target(self) -> RowTarget | None:
        """The object under the cursor."""
        found = self.highlighted_option
        return self._targets.get(found.id or "") if found is not None else None

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows, or the same ones with other contents."""
        self._targets = {row.id: row.target for row in rows if row.target is not None}
        if [row.id for row in rows] != [option.id for option in self.options]:
            self._replace(rows)
            return
        for place, (row, option) in enumerate(zip(rows, self.options, strict=True)):
            if not row.content.is_same(option.prompt):  # type: ignore[arg-type]  # only `show` sets prompts
                self.replace_option_prompt_at_index(place, row.content)

    def _replace(self, rows: Sequence[Row]) -> None:
        before, top = self.highlighted_option, self.scroll_offset.y
        self.set_options([Option(row.content, id=row.id, disabled=row.target is None) for row in rows])
        kept = before.id if before is not None and before.id in self._targets else next(iter(self._targets), None)
        if kept is not None:
            self.highlighted = self.get_option_index(kept)
        self.scroll_to(y=top, animate=False, immediate=True)

    def scroll_to_highlight(self, top: bool = False) -> None:
        """Scroll to the row under the cursor, and to the headings above the first and the notes below the last one."""
        selectable = [place for place, option in enumerate(self.options) if not option.disabled]
        if selectable and self.highlighted == selectable[0]:
            self.scroll_home(animate=False, immediate=True)
        elif selectable and self.highlighted == selectable[-1]:
            self.scroll_end(animate=False, immediate=True)
        else:
            super().scroll_to_highlight(top)
