"""Which index serves a label selector: made when one is first wanted, for the labels that are really selected by."""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl.api import LabelOperator, LabelSelector
from pyctrl.cache._index import IndexFunction
from pyctrl.cache._record import Record

__all__ = ["MOST_INDEXES", "WORTH_AN_INDEX", "by_label", "single_values"]

WORTH_AN_INDEX = 64  # objects to look through: some 0.1 ms, about what the detour costs a program that lists once
MOST_INDEXES = 8  # labels of one kind: each costs an entry for every object that has the label

_ONE_VALUE = (LabelOperator.EQUALS, LabelOperator.IN)


def single_values(selector: LabelSelector) -> Iterator[tuple[str, str, str]]:
    """Yield label, index name and value for each label that must have one certain value."""
    for requirement in selector.requirements:
        if requirement.operator in _ONE_VALUE and len(requirement.values) == 1:
            yield requirement.key, f"label {requirement.key}", requirement.values[0]


def by_label(key: str) -> IndexFunction:
    """Return the function of the index over the values of a label."""

    def value_of(record: Record) -> tuple[str, ...]:
        value = record.labels.get(key)
        return () if value is None else (value,)

    return value_of
