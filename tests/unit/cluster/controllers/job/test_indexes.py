"""Completion indexes in the format of a Job status."""

from __future__ import annotations

import pytest

from pyctrl.cluster._controllers.job.indexes import format_indexes, parse_indexes


@pytest.mark.parametrize(
    ("indexes", "text"), [((), ""), ((3,), "3"), ((0, 2), "0,2"), ((0, 1), "0,1"), ((0, 1, 2, 5, 7, 8, 9), "0-2,5,7-9")]
)
def test_indexes_are_written_as_intervals(indexes: tuple[int, ...], text: str) -> None:
    """Indexes are formatted as intervals and parsed back."""
    assert format_indexes(indexes) == text
    assert parse_indexes(text) == {*indexes}
    assert parse_indexes(text, 1) == {index for index in indexes if index < 1}
