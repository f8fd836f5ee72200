"""Clusters with RBAC: users, service accounts and bindings."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from pyctrl.api import ObjectMeta, OwnerReference
from pyctrl.apiserver import AdmissionPluginName, User
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.errors import Forbidden, Unauthorized
from pyctrl.kinds.core.v1 import ConfigMap, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject
from tests.unit.cluster._rbac import BOT, cluster, make_bot

pytestmark = pytest.mark.virtual_time


async def test_users_have_what_is_bound_to_them() -> None:
    """A user's config has the permissions of the bound roles; the cluster's own config is an administrator's."""
    async with (
        cluster() as running,
        running.client() as admin,
        Client.connect(running.config_for(User(name="jane"))) as jane,
    ):
        with pytest.raises(Forbidden):
            await jane.list(ConfigMap, namespace="default")
        binding = RoleBinding(
            metadata=ObjectMeta(name="jane", namespace="default"),
            role_ref=RoleRef(kind="ClusterRole", name="view"),
            subjects=[Subject(kind="User", name="jane")],
        )
        await admin.create(binding)
        assert await jane.list(ConfigMap, namespace="default")
        with pytest.raises(Forbidden):
            await jane.list(ConfigMap)


async def test_a_service_account_is_logged_in_as_its_pods_are() -> None:
    """The config of an account works in its namespace while the account exists, and ten seconds longer."""
    async with cluster() as running, running.client() as admin:
        with pytest.raises(LookupError, match="bot"):
            running.config_for_account(BOT)
        await make_bot(admin)
        config = running.config_for_account(BOT)
        assert config.namespace == "default"
        async with Client.connect(config) as bot:
            with pytest.raises(Forbidden, match="system:serviceaccount:default:bot"):
                await bot.list(ConfigMap, namespace="default")
            await admin.delete(ServiceAccount, BOT)
            await asyncio.sleep(10)  # the server caches valid tokens, as kube-apiserver does
            with pytest.raises(Unauthorized):
                await bot.list(ConfigMap, namespace="default")


async def test_blocking_owner_references_need_permission() -> None:
    """OwnerReferencesPermissionEnforcement requires `update` of the owner's finalizers for a blocking reference."""
    plugins: tuple[AdmissionPluginName, ...] = ("OwnerReferencesPermissionEnforcement",)
    running = Cluster(random=Random(1), rbac=True, kubelet=False, enable_admission_plugins=plugins)
    rule = PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "create"])
    owner = OwnerReference(api_version="v1", kind="ConfigMap", name="own", uid="1", block_owner_deletion=True)
    owned = ConfigMap(metadata=ObjectMeta(name="a", namespace="default", owner_references=[owner]))
    async with running, running.client() as admin, Client.connect(running.config_for(User(name="jane"))) as jane:
        await admin.create(Role(metadata=ObjectMeta(name="maker", namespace="default"), rules=[rule]))
        reference, subject = RoleRef(kind="Role", name="maker"), Subject(kind="User", name="jane")
        metadata = ObjectMeta(name="maker", namespace="default")
        await admin.create(RoleBinding(metadata=metadata, role_ref=reference, subjects=[subject]))
        with pytest.raises(Forbidden, match="you can't set finalizers on"):
            await jane.create(owned)
        assert (await admin.create(owned)).metadata.owner_references == [owner]


async def test_without_rbac_every_user_may_do_everything() -> None:
    """Without RBAC every user has all permissions."""
    async with cluster(rbac=False) as running, Client.connect(running.config_for(User(name="jane"))) as jane:
        assert await jane.list(ConfigMap)
        assert not list(await jane.list(ClusterRole))


async def test_a_cluster_role_binding_applies_to_every_namespace() -> None:
    """A ClusterRoleBinding to a group applies to every namespace."""
    async with cluster() as running, running.client() as admin:
        binding = ClusterRoleBinding(
            metadata=ObjectMeta(name="team"),
            role_ref=RoleRef(kind="ClusterRole", name="view"),
            subjects=[Subject(kind="Group", name="team")],
        )
        await admin.create(binding)
        async with Client.connect(running.config_for(User(name="jane", groups=("team",)))) as jane:
            assert await jane.list(ConfigMap)
