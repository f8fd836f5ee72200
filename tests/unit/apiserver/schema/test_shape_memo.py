"""The memo of what depends on keys only."""

from __future__ import annotations

from pyctrl.apiserver._schema.shape_memo import ShapeMemo


def test_a_result_is_computed_once() -> None:
    """The function runs at the first use of some keys, and again for other keys or another order."""
    asked: list[tuple[str, ...]] = []

    def joined(keys: tuple[str, ...]) -> str:
        asked.append(keys)
        return "".join(keys)

    memo = ShapeMemo(joined)
    assert [memo["a", "b"], memo["a", "b"], memo["b", "a"]] == ["ab", "ab", "ba"]
    assert asked == [("a", "b"), ("b", "a")]


def test_its_size_has_a_limit() -> None:
    """Free keys fill no memory: a full memo is cleared, and results for many or long keys are not kept."""
    memo = ShapeMemo(len, size=4)
    for number in range(100):
        assert memo[str(number),] == 1
        assert len(memo) <= 4
    before = len(memo)
    assert memo[tuple(map(str, range(65)))] == 65
    assert memo["x" * 2049,] == 1
    assert len(memo) == before
