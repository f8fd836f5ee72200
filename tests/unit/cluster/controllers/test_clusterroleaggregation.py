"""Aggregated ClusterRoles."""

from __future__ import annotations

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.rbac.v1 import ClusterRole, PolicyRule
from tests.unit.cluster._rbac import cluster


async def test_the_roles_for_users_are_aggregated_at_the_start() -> None:
    """admin, edit and view have their rules when the cluster has started, and get the rules of added roles."""
    async with cluster() as running, running.client() as admin:
        counts = [len((await admin.get(ClusterRole, Key("", name))).rules) for name in ("view", "edit", "admin")]
        assert 0 < counts[0] < counts[1] < counts[2]
        labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
        rule = PolicyRule(api_groups=["apps.example"], resources=["podsets"], verbs=["get"])
        await admin.create(ClusterRole(metadata=ObjectMeta(name="podset-view", labels=labels), rules=[rule]))
        for name in ("view", "edit", "admin"):
            await wait_for(admin, ClusterRole, Key("", name), lambda role: rule in role.rules)
        await admin.delete(ClusterRole, Key("", "podset-view"))
        await wait_for(admin, ClusterRole, Key("", "admin"), lambda role: rule not in role.rules)


async def test_a_server_without_controllers_aggregates_nothing() -> None:
    """Without controllers the aggregated roles have no rules, as with a bare kube-apiserver."""
    async with Cluster(controllers=False, kubelet=False, rbac=True) as running, running.client() as admin:
        assert (await admin.get(ClusterRole, Key("", "view"))).rules == []
