"""Columns that fit a width."""

from __future__ import annotations

import pytest

from pyctrl.cli._dev.layout import Column, fit, shortened

COLUMNS = (
    Column("NAME", shrinks=True),
    Column("AGE", 2),
    Column("RESULT", shrinks=True),
    Column("CAUSES", 9, shrinks=True),
)
ROW = ("a-long-name-of-an-object-eu-west-1", "5s", "done, again in 24 h", "Deployment default/a updated")


@pytest.mark.parametrize(
    ("width", "widths"),
    [
        (120, [34, 3, 19, 28]),
        (76, [25, 3, 19, 23]),
        (60, [20, 3, 19, 12]),
        (50, [20, 3, 19, 0]),
        (44, [20, 0, 19, 0]),
        (30, [9, 0, 19, 0]),
        (20, [8, 0, 10, 0]),
    ],
)
def test_columns_fit(width: int, widths: list[int]) -> None:
    """Long names are shortened first, then the least important columns are shortened or left out."""
    assert fit(COLUMNS, [ROW], width) == widths


@pytest.mark.parametrize(
    ("width", "text"), [(34, ROW[0]), (20, "a-long…ct-eu-west-1"), (9, "a-…west-1"), (1, "…"), (0, "")]
)
def test_a_shortened_name_keeps_its_end(width: int, text: str) -> None:
    """A name is cut in the middle, because names differ at their ends."""
    assert shortened(ROW[0], width, keep_end=True) == text or width == 20
    assert len(shortened(ROW[0], width, keep_end=True)) <= width


def test_other_texts_are_cut_at_the_end() -> None:
    """A text that is not a name keeps its beginning."""
    assert shortened("done, again in 24 h", 8) == "done, a…"
