"""What the PodSet operator may do: what it declares, and the role that it ships."""

from __future__ import annotations

from pathlib import Path

import yaml

from examples.podset.podset import add_podset
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import LeaderElection, Manager
from pyctrl.rbac import manifests

ROLE = Path(__file__).parents[3] / "examples" / "podset" / "config" / "role.yaml"


async def test_the_role_that_is_shipped_is_the_one_that_is_derived() -> None:
    """config/role.yaml has a namespace, an account, and what `pyctrl rbac generate --leader-elect` prints."""
    namespace, account, *roles = yaml.safe_load_all(ROLE.read_text())
    assert (namespace["kind"], account["kind"]) == ("Namespace", "ServiceAccount")
    key = Key(account["metadata"]["namespace"], account["metadata"]["name"])
    assert key.namespace == namespace["metadata"]["name"]
    election = LeaderElection(name="podset-operator")
    async with Manager(Config.in_process(ApiServer()), leader_election=election) as manager:
        add_podset(manager)
        assert roles == manifests(manager.grants(own_namespace=key.namespace), name="podset-operator", account=key)
