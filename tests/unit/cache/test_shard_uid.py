"""The uid by which an object is selected: its own, or that of its only owner."""

from __future__ import annotations

import pytest

from pyctrl.api import OwnerReference
from pyctrl.cache._shard_uid import SHARED, shard_uid

KINDS = {("apps", "Deployment"), ("", "ConfigMap")}


def reference(api_version: str, kind: str, uid: str, *, controller: bool | None = None) -> OwnerReference:
    """An owner reference."""
    return OwnerReference(api_version=api_version, kind=kind, name="owner", uid=uid, controller=controller)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ([reference("apps/v1", "Deployment", "d", controller=True)], "d"),
        ([reference("apps/v1beta1", "Deployment", "d")], "d"),
        ([reference("v1", "ConfigMap", "c")], "c"),
        ([], SHARED),
        ([reference("example.com/v1", "Deployment", "d", controller=True)], SHARED),
        ([reference("apps/v1", "ReplicaSet", "r", controller=True)], SHARED),
        ([reference("apps/v1", "Deployment", "d", controller=True), reference("v1", "Pod", "p")], SHARED),
        ([reference("apps/v1", "Deployment", "d", controller=True), reference("v1", "ConfigMap", "c")], SHARED),
    ],
)
def test_an_object_with_one_owner_of_a_kind_is_selected_by_it(owners: list[OwnerReference], expected: str) -> None:
    """The uid is the owner's, in any version of its kind; without such an owner, or with several, it is shared."""
    assert shard_uid("own", owners, KINDS) == expected


def test_without_kinds_an_object_is_selected_by_its_own_uid() -> None:
    """Owners do not count where objects are not selected by them."""
    assert shard_uid("own", [reference("apps/v1", "Deployment", "d")], ()) == "own"
