"""The permissions of the EphemeralVolumeClaim operator: what it declares, and the role that it ships."""

from __future__ import annotations

from pathlib import Path

import yaml

from examples.evc.evc import add_evc
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import Manager
from pyctrl.rbac import Grants, manifests

ROLE = Path(__file__).parents[3] / "examples" / "evc" / "config" / "rbac" / "role.yaml"


async def rights(*, finalizer: bool = False, namespaces: list[str] | None = None) -> Grants:
    """Return the permissions that the operator needs."""
    async with Manager(Config.in_process(ApiServer()), namespaces=namespaces) as manager:
        add_evc(manager, finalizer=finalizer)
        return manager.grants()


async def test_the_role_that_is_shipped_is_the_one_that_is_derived() -> None:
    """config/rbac/role.yaml grants exactly what the program needs."""
    (role,) = yaml.safe_load_all(ROLE.read_text())
    async with Manager(Config.in_process(ApiServer())) as manager:
        add_evc(manager)
        (wanted,) = manifests(manager.grants(own_namespace="evc-system"), name="evc-manager-role")
    assert (role["kind"], role["rules"]) == (wanted["kind"], wanted["rules"])


async def test_the_finalizer_takes_the_right_to_delete() -> None:
    """The operator needs permission to delete PersistentVolumeClaims only with the finalizer option."""
    without, with_it = [
        {str(access) for access in (await rights(finalizer=finalizer)).accesses()} for finalizer in (False, True)
    ]
    assert with_it - without == {"delete persistentvolumeclaims at the cluster scope"}
    assert without <= with_it


async def test_in_namespaces_it_needs_nothing_of_the_cluster() -> None:
    """An operator that is restricted to namespaces needs permissions only in these namespaces."""
    assert set((await rights(namespaces=["a", "b"])).rules) == {"a", "b"}
