"""Indexes of records by values that a function returns, and the functions of label indexes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from pyctrl.api import LabelOperator, LabelSelector
from pyctrl.cache._record import Record

__all__ = ["MAX_LABEL_INDEXES", "MIN_OBJECTS_FOR_INDEX", "Index", "IndexFunc", "by_label", "single_values"]


log = logging.getLogger("pyctrl.cache")

#: Returns the values of a record in an index: none, one or several.
IndexFunc = Callable[[Record], Iterable[str]]


class Index:
    """Finds records by the values that a function returns for them, in constant time.

    It remembers the values of each record, so that removing a record does not call the function. If the function raises
    for an object, the error is logged and the object is not in this index.
    """

    def __init__(self, name: str, values_of: IndexFunc) -> None:
        self.name = name
        self._function = values_of
        self._records: dict[str, dict[tuple[str, str], Record]] = {}
        self._values: dict[tuple[str, str], tuple[str, ...]] = {}

    def put(self, record: Record) -> None:
        """Put a record. It replaces one of the same name."""
        self.remove(record)
        values = self.values_of(record)
        if values:
            key = (record.namespace, record.name)
            self._values[key] = values
            for value in values:
                self._records.setdefault(value, {})[key] = record

    def remove(self, record: Record) -> None:
        """Remove the record with the name of this one."""
        key = (record.namespace, record.name)
        for value in self._values.pop(key, ()):
            records = self._records[value]
            del records[key]
            if not records:
                del self._records[value]

    def find(self, value: str) -> Collection[Record]:
        """Return the records with a value."""
        return self._records.get(value, {}).values()

    def has(self, value: str, record: Record) -> bool:
        """Return whether the record with the name of this one has a value."""
        return (record.namespace, record.name) in self._records.get(value, ())

    def values_of(self, record: Record) -> tuple[str, ...]:
        """Return the values that the function returns, each once; none if it raises, which is logged."""
        try:
            return tuple(dict.fromkeys(self._function(record)))
        except Exception:
            facts = {"index": self.name, "namespace": record.namespace, "object": record.name}
            log.exception("An index function failed, the object is not in this index", extra=facts)
            return ()


#: Objects to scan: some 0.1 ms, about what building the index costs a program that lists once.
MIN_OBJECTS_FOR_INDEX = 64
MAX_LABEL_INDEXES = 8  # labels of one kind: each index has an entry for every object with the label

_ONE_VALUE = (LabelOperator.EQUALS, LabelOperator.IN)


def single_values(selector: LabelSelector) -> list[tuple[str, str, str]]:
    """Return label, index name and value of each requirement that allows exactly one value."""
    return [
        (term.key, f"label {term.key}", term.values[0])
        for term in selector.requirements
        if len(term.values) == 1 and term.operator in _ONE_VALUE
    ]


def by_label(key: str) -> IndexFunc:
    """Return the index function of a label."""

    def value_of(record: Record) -> tuple[str, ...]:
        value = record.labels.get(key)
        return () if value is None else (value,)

    return value_of
