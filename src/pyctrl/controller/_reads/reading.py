"""The declaration of a kind that a reconciler reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from pyctrl.api import KindLike, KubernetesObject, kind_of

__all__ = ["Reading", "as_reading", "reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind that a reconciler reads, with options; see `reading`, which makes it."""

    kind: KindLike
    of: tuple[str, ...] = ()
    triggers: bool = True
    optional: bool = False
    namespaces: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()


def reading(
    kind: KindLike,
    *,
    of: str | Iterable[str] = (),
    triggers: bool = True,
    optional: bool = False,
    namespaces: str | Iterable[str] | None = None,
    names: str | Iterable[str] = (),
) -> Reading:
    """Return the declaration of a kind that a reconciler reads, for its ``reads``.

        reads = (reading(Secret, of="data", namespaces="ops"), ConfigMap)

    Args:
        kind: the kind; alone in ``reads`` it means ``reading(kind)``.
        of: the fields that the reconciler looks at, as dotted paths: ``"data"``, ``"status.readyReplicas"``. A change
            of an object that leaves all of them as they are causes no reconcile. By default each new version counts.
        triggers: whether changes cause reconciles. With False the kind is only cached.
        optional: whether the controller works without the kind while the cluster does not serve it, as for
            ``Builder.owns``.
        namespaces: the namespaces of the objects that it reads; None: those that the manager watches. Only these are
            listed and watched, with permissions there only, and a read elsewhere raises NotCovered, unless another
            controller of the program follows the kind there.
        names: the names of the objects that it reads, with permissions for these only; empty: all objects.
            `KindOptions` with namespaces or selectors take precedence over both.

    Raises:
        NotRegistered: ``kind`` is not a kind.
        ValueError: a path of ``of`` is empty, or begins with a field that the kind does not have.
    """
    kind_of(kind)
    paths = _texts(of)
    for path in paths:
        _check_path(kind, path)
    return Reading(kind, paths, triggers, optional, None if namespaces is None else _texts(namespaces), _texts(names))


def as_reading(declared: KindLike | Reading) -> Reading:
    """Return a declaration of ``reads``, which may be a kind alone. Raises NotRegistered."""
    return declared if isinstance(declared, Reading) else reading(declared)


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _check_path(kind: KindLike, path: str) -> None:
    if not all(path.split(".")):
        raise ValueError(f"of= takes dotted paths of fields, such as 'data' or 'status.phase'; got {path!r}")
    known = _fields_of(kind)
    first = path.partition(".")[0]
    if known and first not in known:
        raise ValueError(f"{kind_of(kind)} has no field {first!r} for of={path!r}; it has: {', '.join(sorted(known))}")


def _fields_of(kind: KindLike) -> set[str]:
    """Return the names of the top-level fields as in JSON; none for kinds without a class."""
    if not (isinstance(kind, type) and issubclass(kind, KubernetesObject)):
        return set()
    fields = cast(Any, kind).model_fields
    return {field.alias or name for name, field in fields.items()} | {"metadata"}
