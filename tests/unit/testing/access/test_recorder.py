"""The access recorder, between a client and the embedded API server with RBAC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured, set_controller_reference
from pyctrl.apiserver import AdmissionPluginName, User
from pyctrl.client import Client, HttpRequest, impersonate, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Reconciler, Request, on_create, where
from pyctrl.errors import Forbidden, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole
from pyctrl.manager import Manager
from pyctrl.rbac import allow, grants, manifests
from pyctrl.testing import AccessRecorder, Answered, ClusterUnderTest, FaultyTransport, Rule
from pyctrl.testing._cluster.choice import ClusterChoice

RBAC = "rbac.authorization.k8s.io"


@pytest.fixture
async def guarded() -> AsyncIterator[Cluster]:
    async with Cluster(rbac=True, kubelet=False) as cluster:
        yield cluster


def config_map(name: str = "a") -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def shown(recorder: AccessRecorder) -> list[str]:
    return [str(asked) for asked in recorder.asked]


async def test_what_is_asked_is_noted_with_how_often_and_by_whom(guarded: Cluster) -> None:
    """Every request is counted, with names and user; discovery and reviews are counted separately."""
    recorder = AccessRecorder(by="a test")
    async with Client.connect(recorder.recorded(guarded.config)) as client:
        await client.create(config_map())
        for _ in range(2):
            await client.get(ConfigMap, Key("default", "a"))
        await client.list(ConfigMap, fields="metadata.name=a")
        await client.list(ConfigMap, namespace="default", labels="a=b")
        await client.transport.request(HttpRequest(method="GET", path="/version"))
    assert shown(recorder) == [
        "create configmaps in namespace 'default' (requested once, by a test)",
        "get configmaps 'a' in namespace 'default' (requested 2 times, first by a test)",
        "list configmaps 'a' at the cluster scope (requested once, by a test)",
        "list configmaps in namespace 'default' (requested once, by a test)",
    ]
    assert recorder.discovery[-1].access.path == "/version"
    assert recorder.refused == []


async def test_what_is_refused_is_noted(guarded: Cluster) -> None:
    """Each forbidden write and watch of a user without permissions is counted, and can be awaited."""
    recorder = AccessRecorder()
    async with Client.connect(recorder.recorded(guarded.config_for(User(name="eve")))) as client:
        with pytest.raises(Forbidden):
            await client.create(config_map())
        with pytest.raises(Forbidden):
            async for _ in client.watch(ConfigMap):
                pass
    assert [str(asked.access) for asked in await recorder.wait_until_refused()] == [
        "create configmaps in namespace 'default'",
        "watch configmaps at the cluster scope",
    ]
    with pytest.raises(TimeoutError):
        await AccessRecorder().wait_until_refused(timeout=5)


@pytest.mark.parametrize(
    "message",
    [
        "exceeded quota: objects",
        "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion a/v1 Kind B",
    ],
)
async def test_a_refusal_that_is_about_something_else_is_none(guarded: Cluster, message: str) -> None:
    """A 403 for another reason, such as a quota or an unknown owner kind, does not count as a missing permission."""
    rule = Rule(Answered(status=403, reason="Forbidden", message=message), method="POST")
    config = replace(guarded.config, wrap_transport=lambda inner: FaultyTransport(inner, [rule]))
    recorder = AccessRecorder()
    async with Client.connect(recorder.recorded(config)) as client:
        owned = config_map()
        set_controller_reference(Secret(metadata=ObjectMeta(name="b", namespace="default", uid="b")), owned)
        with pytest.raises(Forbidden):
            await client.create(owned)
    assert [asked.access.verb for asked in recorder.asked] == ["create", "update"]
    assert recorder.refused == []


async def test_an_owner_that_is_blocked_takes_a_right_to_its_finalizers() -> None:
    """With blockOwnerDeletion enforced, the missing permission is for the owner's finalizers, not for the object."""
    plugins: list[AdmissionPluginName] = ["OwnerReferencesPermissionEnforcement"]
    account = Key("default", "maker")
    recorder = AccessRecorder()
    async with (
        Cluster(rbac=True, kubelet=False, enable_admission_plugins=plugins) as cluster,
        cluster.client() as admin,
    ):
        await admin.create(ServiceAccount(metadata=ObjectMeta(name="maker", namespace="default")))
        role = grants([allow(ConfigMap, "create")], namespaces=None, own_namespace="default")
        for manifest in manifests(role, name="maker", account=account):
            await admin.create(Unstructured.from_wire(manifest))
        owner = await admin.get(ClusterRole, Key("", "maker"))
        owned = config_map("owned")
        set_controller_reference(owner, owned)
        async with Client.connect(recorder.recorded(cluster.config_for_account(account))) as client:
            with pytest.raises(Forbidden):
                await client.create(owned)
    right = "update clusterroles.rbac.authorization.k8s.io/finalizers 'maker' at the cluster scope"
    assert [str(asked) for asked in recorder.refused] == [f"{right} (requested once)"]
    assert [asked.refused for asked in recorder.asked if asked.access.verb == "create"] == [0]


async def test_a_streamed_list_is_a_list(guarded: Cluster) -> None:
    """A streamed list counts as list; servers without streamed lists get an ordinary list."""
    recorder = AccessRecorder()
    async with Manager(recorder.recorded(guarded.config)) as manager:
        manager.cache.informer(ConfigMap)
        async with manager.running():
            pass
    assert [str(asked.access) for asked in recorder.asked] == [
        "list configmaps at the cluster scope",
        "watch configmaps at the cluster scope",
    ]


async def test_acting_as_somebody_else_takes_the_right_to_be_them(guarded: Cluster) -> None:
    """A request as another user counts for that user; the login needs the permission to impersonate."""
    recorder = AccessRecorder()
    async with Client.connect(recorder.recorded(guarded.config)) as client:
        for user in ("jane", "system:serviceaccount:default:bot"):
            with pytest.raises(Forbidden):
                await impersonate(client, user).list(Secret)
    assert shown(recorder) == [
        "impersonate serviceaccounts 'bot' in namespace 'default' (requested once)",
        "impersonate users 'jane' at the cluster scope (requested once)",
    ]


async def test_one_recorder_serves_several_logins(guarded: Cluster) -> None:
    """Recorders can be stacked and shared; each one records its own requests."""
    whole, part = AccessRecorder(), AccessRecorder()
    config = whole.recorded(guarded.config)
    for each in (part.recorded(config), config):
        async with Client.connect(each) as client:
            await client.list(Secret)
    assert [asked.times for recorder in (whole, part) for asked in recorder.asked] == [2, 1]


async def test_a_controller_is_named_with_its_object(guarded: Cluster) -> None:
    """A reconciler's first request is recorded with controller and object."""
    recorder = AccessRecorder(by="a test")
    async with guarded.client() as admin, Manager(recorder.recorded(guarded.config)) as manager:
        Builder(manager).reconciles(ConfigMap, predicates=[where(is_ours) & on_create]).build(_Deleter())
        async with manager.running():
            await admin.create(config_map())
            await wait_until_gone(admin, ConfigMap, Key("default", "a"))
    [deleted] = [asked for asked in recorder.asked if asked.access.verb == "delete"]
    assert str(deleted).endswith("(requested once, by controller configmap for default/a in a test)")


def is_ours(found: ConfigMap) -> bool:
    return found.metadata.name == "a"


class _Deleter(Reconciler[ConfigMap]):
    async def reconcile(self, request: Request) -> None:
        """Delete the object."""
        await self.client.delete(ConfigMap, request.key)


async def test_a_cluster_under_test_gives_logins_of_accounts(guarded: Cluster) -> None:
    """The token and the namespace are those of the account."""
    cluster = ClusterUnderTest(config=guarded.config, choice=ClusterChoice.EMBEDDED)
    config = await cluster.config_for_account(Key("kube-public", "default"))
    assert config.namespace == "kube-public"
    async with Client.connect(config) as client:
        with pytest.raises(Forbidden, match='"system:serviceaccount:kube-public:default" cannot list'):
            await client.list(Secret)
    with pytest.raises(NotFound):
        await cluster.config_for_account(Key("default", "nobody"))


async def test_an_apply_of_what_is_not_there_takes_the_right_to_create(guarded: Cluster) -> None:
    """The first apply counts as patch and create, the second as patch; without permission, create is forbidden."""
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    recorder = AccessRecorder()
    async with Client.connect(recorder.recorded(guarded.config), field_owner="test") as client:
        for _ in range(2):
            await client.apply(applied)
    assert [(asked.access.verb, asked.times) for asked in recorder.asked] == [("create", 1), ("patch", 2)]

    bob = {"kind": "User", "name": "bob", "apiGroup": RBAC}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "patcher"}
    async with guarded.client() as admin:
        for kind, fields in (
            ("ClusterRole", {"rules": [rule]}),
            ("ClusterRoleBinding", {"roleRef": ref, "subjects": [bob]}),
        ):
            meta = {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": "patcher"}}
            await admin.create(Unstructured.from_wire(meta | fields))
    recorder = AccessRecorder()
    config = recorder.recorded(guarded.config_for(User(name="bob")))
    async with Client.connect(config, field_owner="test") as client:
        await client.apply(applied, force=True)
        with pytest.raises(Forbidden):
            await client.apply(applied | {"metadata": {"name": "b", "namespace": "default"}})
    assert [str(asked.access) for asked in recorder.refused] == ["create configmaps in namespace 'default'"]
