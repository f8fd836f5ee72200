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
    "['b', 'a', 'b'].distinct()": ["b", "a"],
    "[dyn(1), dyn(1.0), dyn(true), dyn('1')].distinct()": [1, True, "1"],
    "[dyn([1]), dyn([1.0]), dyn([2])].distinct()": [[1], [2]],
    "sets.contains([dyn(1), dyn('a')], [dyn(1.0)])": True,
    "sets.contains([dyn(1)], [dyn(true)])": False,
    "sets.contains(['a', 'b'], ['b', 'a', 'a'])": True,
    "sets.contains(['a'], ['a', 'b'])": False,
    "sets.equivalent([1, 2, 2], [2, 1])": True,
    "sets.equivalent([1, 2], [1])": False,
    "sets.intersects(['a', 'b'], ['b'])": True,
    "sets.intersects([dyn(2)], [dyn(2.0)])": True,
    "sets.intersects([], ['b'])": False,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
