"""What a list selects, in a plain form that is quick to decode, to hash and to compare with an object."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from pyctrl.api import FieldSelector, LabelOperator, LabelRequirement, LabelSelector
from pyctrl.cache import Informer, ListQuery, Record, field_selector

__all__ = ["Index", "ListSelection", "Trait"]

#: An index and a value in it.
Index: TypeAlias = tuple[str, str]
#: What an object must have so that a list can contain it: a type of value, its name, and the value.
Trait: TypeAlias = tuple[str, str, str]

INDEX, LABEL, FIELD, NAMESPACE = "index", "label", "field", "namespace"

_EQUALS = LabelOperator.EQUALS.value
_ONE_VALUE = (_EQUALS, LabelOperator.IN.value)
_FIELD_EQUALS = ("=", "==")
_OPERATORS = {operator.value: operator for operator in LabelOperator}  # looked up five times as fast as made


class ListSelection(Struct, frozen=True, gc=False, array_like=True):
    """The objects that match a query and, with an index, have a value in it.

    Selectors are objects with validated parts, which take 20 times as long to make: after a restart there is one for
    each request, and most are never used.
    """

    namespace: str | None = None
    #: The requirements of the label selector: key, operator, values.
    labels: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    #: The field selector as text.
    fields: str = ""
    index: Index | None = None

    @classmethod
    def of(cls, query: ListQuery, index: Index | None) -> ListSelection:
        """Return the selection of a list."""
        labels = tuple([(each.key, each.operator.value, each.values) for each in query.labels.requirements])
        return cls(query.namespace, labels, str(query.fields) if query.fields.requirements else "", index)

    @property
    def query(self) -> ListQuery:
        """The query of the list, without the index."""
        labels = LabelSelector(tuple([_requirement(*each) for each in self.labels]))
        return ListQuery(namespace=self.namespace, labels=labels, fields=_fields(self.fields))

    def selects(self, record: Record, informer: Informer) -> bool:
        """Return whether the list contains an object of a kind."""
        if self.namespace is not None and record.namespace != self.namespace:
            return False
        labels = record.labels if self.labels else {}
        for key, operator, values in self.labels:
            if operator == _EQUALS:
                if labels.get(key) != values[0]:
                    return False
            elif not _requirement(key, operator, values).matches(labels):
                return False
        if self.fields and not _fields(self.fields).matches(record.field):
            return False
        return self.index is None or self.index[1] in informer.index_values(self.index[0], record)

    def traits(self) -> list[Trait]:
        """Return the traits by any of which it is found: the index alone, else labels, fields, or the namespace."""
        if self.index is not None:
            return [(INDEX, *self.index)]
        found = [
            (LABEL, key, values[0])
            for key, operator, values in self.labels
            if len(values) == 1 and operator in _ONE_VALUE
        ]
        if not found and self.fields:
            found = [
                (FIELD, each.field, each.value)
                for each in _fields(self.fields).requirements
                if each.operator in _FIELD_EQUALS and each.value  # an absent field equals ""
            ]
        return found or [(NAMESPACE, "", self.namespace or "")]

    def is_only(self, trait: Trait) -> bool:
        """Return whether it contains each object of its namespace that has a trait, which is one of `traits`."""
        criteria = len(self.labels) + bool(self.fields) + (self.index is not None)
        return criteria == 0 if trait[0] == NAMESPACE else criteria == 1 and trait[0] != FIELD


@lru_cache(1024)  # lists of many requests have requirements in common
def _requirement(key: str, operator: str, values: tuple[str, ...]) -> LabelRequirement:
    return LabelRequirement(key, _OPERATORS[operator], values)


@lru_cache(1024)
def _fields(text: str) -> FieldSelector:
    return field_selector(text)
