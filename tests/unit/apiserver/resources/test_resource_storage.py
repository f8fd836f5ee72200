"""The verbs of a resource follow from the functions of its storage."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceStorage


async def _function(*arguments: Any) -> Any:
    raise NotImplementedError


ALL = ("get", "list", "watch", "create", "update", "delete")


@pytest.mark.parametrize(
    ("functions", "verbs"),
    [
        ((), ()),
        (("get",), ("get",)),
        (("list",), ("list",)),
        (("watch",), ()),  # a client lists before it watches
        (("get", "list", "watch"), ("get", "list", "watch")),
        (("create",), ("create",)),
        (("update", "delete"), ()),  # both read the object first
        (("list", "delete"), ("deletecollection", "list")),
        (ALL, ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")),
    ],
)
def test_verbs_follow_from_functions(functions: tuple[str, ...], verbs: tuple[str, ...]) -> None:
    """Discovery has the verbs that kube-apiserver's APIInstaller would give to such a storage."""
    given: dict[str, Any] = dict.fromkeys(functions, _function)
    assert ResourceStorage(**given).verbs == verbs
