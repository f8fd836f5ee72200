"""List functions of Kubernetes and cel-go."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "[1, 3, 2].isSorted()": False,
    "[1, 2, 3].sum()": 6,
    "[3, 1, 2].min() + [3, 1, 2].max()": 4,
    "['a', 'b', 'a'].indexOf('a')": 0,
    "['a', 'b', 'a'].lastIndexOf('a')": 2,
    "[1, 2, 2, 3].distinct()": [1, 2, 3],
    "[1, 2, 3].slice(1, 3)": [2, 3],
    "[[1], [2, 3]].flatten()": [1, 2, 3],
    "sets.contains([1, 2], [2])": True,
    "sets.intersects([1], [2])": False,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
