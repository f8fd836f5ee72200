"""Checks of a reconciler's attributes and signature."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pyctrl.controller import Reconciler, Request, mapped
from pyctrl.controller._declarations import check_declarations
from pyctrl.errors import BuilderError
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from pyctrl.rbac import allow


class Declared(Reconciler[ConfigMap]):
    """A reconciler with all declarations."""

    rbac = (allow(Pod, "create"),)
    owns = (Deployment,)
    watches = ((Pod, mapped(lambda _: [])),)

    async def reconcile(self, request: Request) -> None: ...


def declared(**members: Any) -> Reconciler[Any]:
    """Return a reconciler whose class has these members instead."""
    return cast(Reconciler[Any], type("Wrong", (Declared,), members)())


def test_a_complete_declaration_is_accepted() -> None:
    """A complete declaration is accepted, also if a decorator wraps the method."""
    check_declarations(Declared())

    def wrapper() -> None: ...

    vars(wrapper)["__wrapped__"] = Declared.reconcile
    check_declarations(declared(reconcile=wrapper))


def without_request(self: object) -> None: ...


def synchronous(self: object, request: Request) -> None: ...


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"rbac": allow(Pod, "create")},
            r"rbac of Wrong must be a tuple of what allow\(\) returns.*with its comma; got",
        ),
        ({"owns": Deployment}, r"owns of Wrong must be .*owns = \(Deployment,\), with its comma; got Deployment"),
        ({"owns": ("Pod", Pod)}, r"owns of Wrong must be a tuple of kinds.*; got \('Pod', Pod\)"),
        ({"watches": (Pod, lambda _: [])}, r"watches of Wrong must be a tuple of pairs of a kind and a handler"),
        ({"watches": ((Pod, "handler"),)}, r"watches of Wrong must be .*got \(\(Pod, 'handler'\),\)"),
        ({"reconcile": without_request}, r"reconcile of Wrong must be async def .*got one that takes others"),
        ({"reconcile": synchronous}, r"reconcile of Wrong must be async def .*got a function that is not async"),
    ],
)
def test_a_mistake_is_named_with_what_was_expected(members: dict[str, Any], message: str) -> None:
    """A wrong declaration is an error that names what was expected, before any reconcile runs."""
    with pytest.raises(BuilderError, match=message):
        check_declarations(declared(**members))
