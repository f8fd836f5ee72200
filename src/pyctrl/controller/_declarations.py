"""Checks of the class of a reconciler: rbac, owns, watches, reads, and the signatures of its reconcile methods."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, TypeGuard, cast

from pyctrl.api import KindLike, kind_of
from pyctrl.controller._reads.reading import Reading
from pyctrl.controller._reconciler import Reconciler
from pyctrl.errors import BuilderError, NotRegistered
from pyctrl.rbac import Permission

__all__ = ["check_declarations"]

_AWAITABLES = ("Awaitable", "Coroutine", "Future", "Task")
_METHODS = {
    "reconcile": "async def reconcile(self, request: Request)",
    "reconcile_object": "async def reconcile_object(self, obj)",
}


def check_declarations(reconciler: Reconciler[Any]) -> None:
    """Refuse attributes of the wrong type, and a reconcile method that cannot be awaited with one argument.

    Raises:
        BuilderError: names what was expected, the value, and the line of the class.
    """
    _check_rbac(reconciler)
    _check_owns(reconciler)
    _check_watches(reconciler)
    _check_reads(reconciler)
    for name, expected in _METHODS.items():
        _check_method(reconciler, name, expected)


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


def _check_reads(reconciler: Reconciler[Any]) -> None:
    said: object = reconciler.reads
    if not _is_sequence(said) or not all(isinstance(each, Reading) or _is_kind(each) for each in said):
        name = said.__name__ if isinstance(said, type) else "Secret"
        expected = f"a tuple of kinds or of what reading() returns, such as reads = ({name},), with its comma"
        raise _refused(reconciler, "reads", expected, said)


def _check_method(reconciler: Reconciler[Any], name: str, expected: str) -> None:
    """Refuse a function that cannot be called or awaited: each reconcile would fail and be retried for ever."""
    method: object = getattr(type(reconciler), name, None)
    if not inspect.isfunction(method) or hasattr(method, "__wrapped__"):  # a decorator may return anything
        return
    try:
        inspect.signature(method).bind(reconciler, None)
    except TypeError as error:
        raise _refused(reconciler, name, expected, f"one that takes others ({error})") from error
    returned = str(method.__annotations__.get("return", ""))
    if not inspect.iscoroutinefunction(method) and not any(awaitable in returned for awaitable in _AWAITABLES):
        raise _refused(reconciler, name, expected, "a function that is not async")


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
    got = said if member in _METHODS else _shown(said)
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
