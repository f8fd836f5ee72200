"""The parts of a kind that a cache watches, and whether they can answer a read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from pyctrl.api import FieldSelector, Key, LabelSelector
from pyctrl.cache._record import Record
from pyctrl.client import Fields, Labels
from pyctrl.rbac import PermissionScope

__all__ = [
    "COVERED_ONLY",
    "Coverage",
    "ListQuery",
    "covers_list",
    "covers_object",
    "field_selector",
    "label_selector",
    "remedy_for_list",
    "remedy_for_object",
]


class ListQuery(Struct, frozen=True, kw_only=True):
    """The namespace and selectors of a list; a ``namespace`` of None means all namespaces."""

    namespace: str | None = None
    labels: LabelSelector = field(default_factory=LabelSelector.everything)
    fields: FieldSelector = field(default_factory=FieldSelector.everything)

    def matches(self, record: Record) -> bool:
        """Return whether an object matches."""
        if self.namespace is not None and record.namespace != self.namespace:
            return False
        if self.labels.requirements and not self.labels.matches(record.labels):
            return False
        return not self.fields.requirements or self.fields.matches(record.field)

    def __str__(self) -> str:
        parts = ["all namespaces" if self.namespace is None else f"namespace {self.namespace!r}"]
        parts += [f"labels {self.labels}"] * bool(self.labels.requirements)
        parts += [f"fields {self.fields}"] * bool(self.fields.requirements)
        return ", ".join(parts)


class Coverage(ListQuery, frozen=True, kw_only=True):
    """One part of a kind that is listed and watched: one namespace or all, and selectors.

    The coverages of a kind are a union: the cache has an object when any of them selects it.
    """

    def decides(self, key: Key) -> bool:
        """Return whether an object of this key that is not in the cache does not exist.

        Only the key of a missing object is known, so a selector of anything else leaves the question open.
        """
        known = {"metadata.name": key.name, "metadata.namespace": key.namespace}
        return (
            self.namespace in (None, key.namespace)
            and not self.labels.requirements
            and all(requirement.field in known for requirement in self.fields.requirements)
            and self.fields.matches(known.get)
        )

    @property
    def permission(self) -> tuple[frozenset[str] | PermissionScope, tuple[str, ...]]:
        """The scope in which to list and watch, and the names; no names means all."""
        names = [
            term.value for term in self.fields.requirements if (term.field, term.operator) == ("metadata.name", "=")
        ]
        return (PermissionScope.CLUSTER if self.namespace is None else frozenset([self.namespace])), tuple(names)

    def contains(self, query: ListQuery) -> bool:
        """Return whether the cache has every object that matches a query.

        Each requirement of the coverage must be a requirement of the query, written the same way. A query that only
        implies a requirement counts as not contained.
        """
        return (self.namespace is None or self.namespace == query.namespace) and self.selects(query)

    def selects(self, query: ListQuery) -> bool:
        """Return whether the cache has every object of this namespace that matches a query; see `contains`."""
        return (not (own := self.labels.requirements) or set(own) <= set(query.labels.requirements)) and (
            not (own_fields := self.fields.requirements) or set(own_fields) <= set(query.fields.requirements)
        )


def covers_list(coverages: Sequence[Coverage], query: ListQuery, *, is_cluster_wide: bool = False) -> bool:
    """Return whether the coverages can answer a list in full.

    If only some namespaces are watched, a list without a namespace means these, unless it is ``is_cluster_wide``.
    """
    if any(coverage.contains(query) for coverage in coverages):
        return True
    watched = {coverage.namespace for coverage in coverages}
    if query.namespace is not None or None in watched or is_cluster_wide:
        return False
    fields = query.fields.requirements
    asked = {term.value for term in fields if (term.field, term.operator) == ("metadata.namespace", "=")}
    return asked <= watched and watched == {c.namespace for c in coverages if c.selects(query)}


def remedy_for_object(coverages: Sequence[Coverage], key: Key, *, is_kind_option: bool) -> str:
    """Return what to do so that an object can be read."""
    if any(coverage.namespace in (None, key.namespace) for coverage in coverages):
        return _SELECTORS
    return _namespaces(key.namespace, is_kind_option=is_kind_option)


def remedy_for_list(coverages: Sequence[Coverage], query: ListQuery, *, is_kind_option: bool) -> str:
    """Return what to do so that a list can be answered."""
    watched = {coverage.namespace for coverage in coverages}
    if query.namespace is not None and None not in watched and query.namespace not in watched:
        return _namespaces(query.namespace, is_kind_option=is_kind_option)
    if any(coverage.selects(query) for coverage in coverages):  # of all namespaces, with Outside.LIVE
        return "name a namespace that is watched, or read all of them with client.live"
    return _SELECTORS


def _namespaces(namespace: str, *, is_kind_option: bool) -> str:
    where = "KindOptions(namespaces=...) of this kind" if is_kind_option else "the namespaces of the manager"
    return f"add {namespace!r} to {where}, or read with client.live, which needs permissions there"


_SELECTORS = (
    "select what is watched in the read, too, widen KindOptions(selectors=...) of this kind, or read with client.live"
)


#: What to do so that a list can be answered by a cache that covers some hash ranges only.
COVERED_ONLY = (
    "list the covered part with covered_only=True, or all objects with client.live; other replicas cover the rest"
)


def covers_object(coverages: Sequence[Coverage], key: Key) -> bool:
    """Return whether an object that is not in the cache does not exist."""
    return any(coverage.decides(key) for coverage in coverages)


def label_selector(labels: Labels) -> LabelSelector:
    """Return labels in any form as a selector; None selects everything. Raises SelectorError."""
    if not labels:
        return _ANY_LABELS
    if isinstance(labels, LabelSelector):
        return labels
    return LabelSelector.parse(labels) if isinstance(labels, str) else LabelSelector.from_dict(labels)


def field_selector(fields: Fields) -> FieldSelector:
    """Return the selector that is meant; None selects everything. Raises SelectorError."""
    if not fields:
        return _ANY_FIELDS
    if isinstance(fields, FieldSelector):
        return fields
    return FieldSelector.parse(fields) if isinstance(fields, str) else FieldSelector.from_dict(fields)


_ANY_LABELS, _ANY_FIELDS = LabelSelector.everything(), FieldSelector.everything()
