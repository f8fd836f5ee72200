"""Which index serves a label selector: made when one is first wanted, for the labels that are really selected by."""

from __future__ import annotations

from pyctrl.api import LabelOperator, LabelSelector
from pyctrl.cache._index import IndexFunction
from pyctrl.cache._record import Record

__all__ = ["MOST_INDEXES", "WORTH_AN_INDEX", "by_label", "single_values"]

WORTH_AN_INDEX = 64  # objects to look through: some 0.1 ms, about what the detour costs a program that lists once
MOST_INDEXES = 8  # labels of one kind: each costs an entry for every object that has the label

_ONE_VALUE = (LabelOperator.EQUALS, LabelOperator.IN)


def single_values(selector: LabelSelector) -> list[tuple[str, str, str]]:
    """Return label, index name and value for each label that must have one certain value."""
    return [
        (term.key, f"label {term.key}", term.values[0])
        for term in selector.requirements
        if len(term.values) == 1 and term.operator in _ONE_VALUE
    ]


def by_label(key: str) -> IndexFunction:
    """Return the function of the index over the values of a label."""

    def value_of(record: Record) -> tuple[str, ...]:
        value = record.labels.get(key)
        return () if value is None else (value,)

    return value_of
