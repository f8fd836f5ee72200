"""The permissions of the PodSet operator: what it declares, and the role that it ships."""

from __future__ import annotations

from pathlib import Path

import yaml

from examples.podset.podset import add_podset
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import Manager
from pyctrl.rbac import manifests

ROLE = Path(__file__).parents[3] / "examples" / "podset" / "config" / "rbac" / "role.yaml"


async def test_the_role_that_is_shipped_is_the_one_that_is_derived() -> None:
    """config/rbac/role.yaml grants exactly what the program needs."""
    (role,) = yaml.safe_load_all(ROLE.read_text())
    async with Manager(Config.in_process(ApiServer())) as manager:
        add_podset(manager)
        (wanted,) = manifests(manager.grants(own_namespace="podset-system"), name="podset-manager-role")
    assert (role["kind"], role["rules"]) == (wanted["kind"], wanted["rules"])
