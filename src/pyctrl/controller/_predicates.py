"""Predicates: functions that accept or reject a change, combined with ``&``, ``|`` and ``~``.

A predicate decides whether a change causes a reconcile; it does not change what the cache holds. Predicates that
compare old and new accept creations and deletions. `changed` and `where` decode the object; others read metadata only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from pyctrl.api import LabelSelector
from pyctrl.controller._object_change import ObjectChange

if TYPE_CHECKING:
    from pyctrl.cache import Record

__all__ = [
    "Predicate",
    "annotations_changed",
    "changed",
    "generation_changed",
    "labels_changed",
    "labels_match",
    "on_create",
    "on_delete",
    "on_update",
    "resource_version_changed",
    "where",
]

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True, default=Any)


class Predicate(Generic[T_contra]):
    """A function that accepts or rejects a change: ``generation_changed | labels_changed``, ``~on_delete``."""

    def __init__(self, accepts: Callable[[ObjectChange[T_contra]], bool], name: str = "") -> None:
        self._accepts = accepts
        self._name = name or getattr(accepts, "__qualname__", repr(accepts))

    def __call__(self, change: ObjectChange[T_contra]) -> bool:
        return self._accepts(change)

    def __and__(self: Predicate[T], other: Callable[[ObjectChange[T]], bool]) -> Predicate[T]:
        return Predicate(lambda change: self(change) and other(change), f"({self} & {_name(other)})")

    def __or__(self: Predicate[T], other: Callable[[ObjectChange[T]], bool]) -> Predicate[T]:
        return Predicate(lambda change: self(change) or other(change), f"({self} | {_name(other)})")

    def __invert__(self) -> Predicate[T_contra]:
        return Predicate(lambda change: not self(change), f"~{self}")

    def __repr__(self) -> str:
        return self._name


def changed(differs: Callable[[T, T], bool]) -> Predicate[T]:
    """Accept an update if ``differs(old, new)``: ``changed(lambda old, new: old.spec != new.spec)``."""

    def accepts(change: ObjectChange[T]) -> bool:
        old, new = change.old, change.new
        return old is None or new is None or differs(old, new)

    return Predicate(accepts, f"changed({_name(differs)})")


def where(matches: Callable[[T], bool]) -> Predicate[T]:
    """Accept a change if the object matches in its present state, or in the last one before its deletion."""
    return Predicate(lambda change: matches(change.objects[-1]), f"where({_name(matches)})")


def labels_match(selector: LabelSelector | str) -> Predicate:
    """Accept a change if the object's labels match, in the present state or the last one before its deletion.

    Raises:
        SelectorError: the text does not parse.
    """
    parsed = LabelSelector.parse(selector) if isinstance(selector, str) else selector
    return Predicate(lambda change: parsed.matches(change.current.labels), f"labels_match({str(parsed)!r})")


def _differs(name: str, value_of: Callable[[Record], object]) -> Predicate:
    """Return the predicate that accepts an update if a value of its metadata differs."""

    def accepts(change: ObjectChange) -> bool:
        before, after = change.before, change.after
        return before is None or after is None or value_of(before) != value_of(after)

    return Predicate(accepts, name)


def _name(function: object) -> str:
    return repr(function) if isinstance(function, Predicate) else getattr(function, "__qualname__", repr(function))


#: Accepts updates of the spec, which increase metadata.generation; not of labels, annotations or status.
generation_changed: Predicate = _differs("generation_changed", lambda state: state.generation)
labels_changed: Predicate = _differs("labels_changed", lambda state: state.labels)
annotations_changed: Predicate = _differs("annotations_changed", lambda state: state.annotations)
#: Accepts all changes but resyncs.
resource_version_changed: Predicate = Predicate(lambda change: not change.is_resync, "resource_version_changed")
on_create: Predicate = Predicate(lambda change: change.change == "created", "on_create")
on_update: Predicate = Predicate(lambda change: change.change == "updated", "on_update")
on_delete: Predicate = Predicate(lambda change: change.change == "deleted", "on_delete")
