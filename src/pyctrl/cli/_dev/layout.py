"""Columns of text that fit a width: what is shortened, and which columns are left out first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Column", "fit", "shortened"]

GAP = 2  # between two columns
MOST_OF_NAME = 20  # characters of the first column, or a third of the width, if a row is too long
SHORTEST = 8  # characters to which a column is shortened


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        title: its heading.
        leaves: columns with a higher number are left out before others if a row is too long; 0: never left out.
        shrinks: whether it is shortened before it is left out.
    """

    title: str
    leaves: int = 0
    shrinks: bool = False


def fit(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column; 0 for one that is left out. The sum with its gaps is at most ``width``."""
    widths = [max(len(cell) for cell in cells) for cells in zip([each.title for each in columns], *rows, strict=True)]
    if sum(widths) + GAP * (len(widths) - 1) > width:  # long names leave space for the other columns
        widths[0] = min(widths[0], max(len(columns[0].title), MOST_OF_NAME, width // 3))
    for place in sorted(range(len(columns)), key=lambda place: -columns[place].leaves):
        too_much = sum(widths) + GAP * (sum(map(bool, widths)) - 1) - width
        if too_much <= 0:
            break
        column, shrunk = columns[place], max(SHORTEST, widths[place] - too_much)
        if column.shrinks and (not column.leaves or widths[place] - too_much >= SHORTEST):
            widths[place] = min(widths[place], shrunk)
        elif column.leaves:
            widths[place] = 0
    return widths


def shortened(text: str, width: int, *, keep_end: bool = False) -> str:
    """Return a text of at most ``width`` characters. With ``keep_end`` it is cut in the middle, as names end apart."""
    if len(text) <= width:
        return text
    if width < 2 or not keep_end:
        return text[: max(0, width - 1)] + "…" * (width > 0)
    start = (width - 1) // 3
    return f"{text[:start]}…{text[start + 1 - width :]}"
