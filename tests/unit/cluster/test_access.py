"""Clusters with RBAC: who logs in as whom, aggregated roles, and the tokens that Secrets keep."""

from __future__ import annotations

import base64
from random import Random

import pytest

from pyctrl.api import Key, ObjectMeta, OwnerReference
from pyctrl.apiserver import AdmissionPluginName, User
from pyctrl.client import Client, Config, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.errors import Forbidden, Unauthorized
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject

pytestmark = pytest.mark.virtual_time

BOT = Key("default", "bot")


def cluster(*, rbac: bool = True) -> Cluster:
    return Cluster(random=Random(1), rbac=rbac, kubelet=False)


def secret_of(account: str, name: str = "token") -> Secret:
    annotations = {"kubernetes.io/service-account.name": account}
    metadata = ObjectMeta(name=name, namespace="default", annotations=annotations)
    return Secret(metadata=metadata, type="kubernetes.io/service-account-token")


async def make_bot(client: Client) -> None:
    await client.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))


async def test_users_have_what_is_bound_to_them() -> None:
    """A config for a user is one line; it may do what its roles say, and the cluster's own is an administrator's."""
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
    """The config of an account works while the account is there, in its namespace."""
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
            with pytest.raises(Unauthorized):
                await bot.list(ConfigMap, namespace="default")


async def test_the_garbage_collector_s_rights_are_checked_where_it_is_wanted() -> None:
    """With the admission plugin an account needs `update` of the finalizers of what it lets own with a block."""
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


async def test_without_rbac_everybody_may_do_everything() -> None:
    """RBAC is off for tests that do not care, also for users that are named."""
    async with cluster(rbac=False) as running, Client.connect(running.config_for(User(name="jane"))) as jane:
        assert await jane.list(ConfigMap)
        assert not list(await jane.list(ClusterRole))


async def test_the_roles_for_users_are_aggregated_at_the_start() -> None:
    """admin, edit and view have their rules when the cluster is entered, and those of roles that are added."""
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
    """As in a bare kube-apiserver the roles for users have no rules."""
    async with Cluster(controllers=False, kubelet=False, rbac=True) as running, running.client() as admin:
        assert (await admin.get(ClusterRole, Key("", "view"))).rules == []


async def test_a_token_secret_is_filled_and_lets_its_account_in() -> None:
    """The Secret gets a token, the authority and the namespace; the token is good until the Secret goes."""
    async with cluster() as running, running.client() as admin:
        await make_bot(admin)
        await admin.create(secret_of("bot"))
        secret = await wait_for(admin, Secret, Key("default", "token"), lambda secret: "token" in secret.data)
        assert base64.b64decode(secret.data["namespace"]) == b"default"
        assert base64.b64decode(secret.data["ca.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")
        token = base64.b64decode(secret.data["token"]).decode()
        async with Client.connect(Config.in_process(running.server, token=token)) as bot:
            with pytest.raises(Forbidden, match="system:serviceaccount:default:bot"):
                await bot.list(ConfigMap)
            await admin.delete(secret)
            with pytest.raises(Unauthorized):
                await bot.list(ConfigMap)


async def test_a_token_secret_goes_with_its_account() -> None:
    """A Secret for an account that is not there, or no longer, is deleted; a token that was taken out comes back."""
    async with cluster() as running, running.client() as admin:
        await make_bot(admin)
        await admin.create(secret_of("nosuch", "orphan"))
        await wait_until_gone(admin, Secret, Key("default", "orphan"))
        secret = await admin.create(secret_of("bot"))
        secret = await wait_for(admin, Secret, secret.key, lambda secret: "token" in secret.data)
        del secret.data["token"]
        await admin.update(secret)
        await wait_for(admin, Secret, secret.key, lambda secret: "token" in secret.data)
        await admin.delete(ServiceAccount, BOT)
        await wait_until_gone(admin, Secret, secret.key)


async def test_cluster_roles_are_bound_to_everybody() -> None:
    """A ClusterRoleBinding to a group reaches every namespace."""
    async with cluster() as running, running.client() as admin:
        binding = ClusterRoleBinding(
            metadata=ObjectMeta(name="team"),
            role_ref=RoleRef(kind="ClusterRole", name="view"),
            subjects=[Subject(kind="Group", name="team")],
        )
        await admin.create(binding)
        async with Client.connect(running.config_for(User(name="jane", groups=("team",)))) as jane:
            assert await jane.list(ConfigMap)
