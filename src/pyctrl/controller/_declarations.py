"""Checks of the class of a reconciler: rbac, owns, watches, and the signature of reconcile()."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, TypeGuard, cast

from pyctrl.api import KindLike, kind_of
from pyctrl.controller._reconciler import Reconciler
from pyctrl.errors import BuilderError, NotRegistered
from pyctrl.rbac import Permission

__all__ = ["check_declarations"]

_AWAITABLES = ("Awaitable", "Coroutine", "Future", "Task")


def check_declarations(reconciler: Reconciler[Any]) -> None:
    """Refuse attributes of the wrong type, and a `reconcile` that cannot be awaited with a request.

    Raises:
        BuilderError: names what was expected, the value, and the line of the class.
    """
    _check_rbac(reconciler)
    _check_owns(reconciler)
    _check_watches(reconciler)
    _check_reconcile(reconciler)


def _check_rbac(reconciler: Reconciler[Any]) -> None:
    """Refuse anything but permissions in a sequence: parentheses without a comma are not a tuple."""
    said: object = reconciler.rbac
    if not isinstance(said, Sequence) or not all(isinstance(each, Permission) for each in said):
        raise _refused(
            reconciler,
            "rbac",
            'a tuple of what allow() returns, such as rbac = (allow(Pod, "create"),), with its comma',
            said,
        )


def _check_owns(reconciler: Reconciler[Any]) -> None:
    said: object = reconciler.owns
    if not _is_sequence(said) or not all(_is_kind(each) for each in said):
        name = said.__name__ if isinstance(said, type) else "Deployment"
        raise _refused(reconciler, "owns", f"a tuple of kinds, such as owns = ({name},), with its comma", said)


def _check_watches(reconciler: Reconciler[Any]) -> None:
    said: object = reconciler.watches
    if not _is_sequence(said) or not all(_is_watch(each) for each in said):
        expected = "a tuple of pairs of a kind and a handler, such as watches = ((Pod, mapped(function)),), with commas"
        raise _refused(reconciler, "watches", expected, said)


def _check_reconcile(reconciler: Reconciler[Any]) -> None:
    """Refuse a function that cannot be called or awaited: each reconcile would fail and be retried for ever."""
    method: object = getattr(type(reconciler), "reconcile", None)
    if not inspect.isfunction(method) or hasattr(method, "__wrapped__"):  # a decorator may return anything
        return
    try:
        inspect.signature(method).bind(reconciler, None)
    except TypeError as error:
        raise _refused(
            reconciler, "reconcile", "async def reconcile(self, request: Request)", f"one that takes others ({error})"
        ) from error
    returned = str(method.__annotations__.get("return", ""))
    if not inspect.iscoroutinefunction(method) and not any(name in returned for name in _AWAITABLES):
        expected = "async def reconcile(self, request: Request)"
        raise _refused(reconciler, "reconcile", expected, "a function that is not async")


def _is_sequence(said: object) -> TypeGuard[Sequence[object]]:
    return isinstance(said, Sequence) and not isinstance(said, str)


def _is_watch(said: object) -> bool:
    return isinstance(said, tuple) and len(said) == 2 and _is_kind(said[0]) and callable(said[1])


def _is_kind(said: object) -> bool:
    try:
        kind_of(cast(KindLike, said))
    except NotRegistered:
        return False
    return True


def _refused(reconciler: Reconciler[Any], member: str, expected: str, said: object) -> BuilderError:
    from pyctrl._source_excerpts import class_excerpt  # here: most declarations are right

    cls = type(reconciler)
    got = said if member == "reconcile" else _shown(said)
    text = f"{member} of {cls.__name__} must be {expected}; got {got}"
    place = class_excerpt(cls, member)
    return BuilderError(text if place is None else f"{text}\n{place}")


def _shown(said: object) -> str:
    """Return a value as source code: classes by their names."""
    if isinstance(said, type):
        return said.__name__
    if isinstance(said, tuple):
        return f"({', '.join(map(_shown, said))}{',' if len(said) == 1 else ''})"
    return repr(said)
