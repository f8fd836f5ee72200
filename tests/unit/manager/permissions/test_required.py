"""The permissions of a whole program, as derived by its manager."""

from __future__ import annotations

from collections.abc import Iterable

from examples.podset.podset import add_podset
from pyctrl.api import GroupVersionKind, KindLike, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.cache import KindOptions, Selector
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Node, Pod, Secret
from pyctrl.manager import Manager
from pyctrl.rbac import LEADER_ELECTION, Permission, allow

CONFIG = Config.in_process(ApiServer(), namespace="operators")


def shown(manager: Manager) -> list[str]:
    return [str(access) for access in manager.grants().accesses()]


async def test_what_a_controller_needs_follows_from_its_wiring() -> None:
    """Watched kinds need list and watch, owners need finalizers, and the reconciler adds the kinds that it writes."""
    async with Manager(CONFIG) as manager:
        add_podset(manager)
        assert shown(manager) == [
            "create deployments.apps at the cluster scope",
            "list pods at the cluster scope",
            "list deployments.apps at the cluster scope",
            "list podsets.apps.jicki.cn at the cluster scope",
            "patch deployments.apps at the cluster scope",
            "patch podsets.apps.jicki.cn/status at the cluster scope",
            "update podsets.apps.jicki.cn/finalizers at the cluster scope",
            "watch pods at the cluster scope",
            "watch deployments.apps at the cluster scope",
            "watch podsets.apps.jicki.cn at the cluster scope",
        ]


class Quiet(Reconciler[ConfigMap]):
    """Does nothing, and needs the given permissions."""

    def __init__(self, *rbac: Permission) -> None:
        self.rbac = rbac

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


async def test_a_restricted_manager_needs_rights_in_its_namespaces_only() -> None:
    """A manager restricted to namespaces needs permissions only there, except for cluster-scoped kinds."""
    async with Manager(CONFIG, namespaces=["a", "b"]) as manager:
        reconciler = Quiet(allow(ConfigMap, "patch"), allow(Node, "get"))
        Builder(manager).reconciles(ConfigMap).watches(Node, lambda _: ()).build(reconciler)
        granted = manager.grants()
        assert list(granted.rules) == ["", "a", "b"]
        assert [str(access) for access in granted.accesses() if access.namespace == "a"] == [
            "list configmaps in namespace 'a'",
            "patch configmaps in namespace 'a'",
            "watch configmaps in namespace 'a'",
        ]
        assert {access.resource for access in granted.accesses() if not access.namespace} == {"nodes"}


async def test_a_kind_that_is_cached_in_part_needs_rights_for_that_part() -> None:
    """Cache options of a kind restrict its permissions to the kind's namespaces, and to a selected name."""
    kinds: dict[KindLike, KindOptions] = {
        ConfigMap: KindOptions(namespaces=["web"]),
        Secret: KindOptions(namespaces=["web"], selectors=[Selector(fields="metadata.name=key")]),
    }
    async with Manager(CONFIG, kinds=kinds) as manager:
        Builder(manager).reconciles(ConfigMap).watches(Secret, lambda _: ()).build(Quiet())
        assert shown(manager) == [
            "list configmaps in namespace 'web'",
            "list secrets 'key' in namespace 'web'",
            "watch configmaps in namespace 'web'",
            "watch secrets 'key' in namespace 'web'",
        ]


async def test_indexes_and_kinds_without_a_class_count() -> None:
    """A kind that is cached only for reads, or has no class, needs list and watch as well."""

    def images(pod: Pod) -> Iterable[str]:
        return (container.image or "" for container in pod.spec.containers)

    async with Manager(CONFIG) as manager:
        manager.cache.add_index(Pod, "image", images)
        kind = GroupVersionKind("example.com", "v1", "Policy")
        Builder(manager).reconciles(kind).build(_Any())
        resources = {access.qualified_resource for access in manager.grants().accesses()}
        assert resources == {"pods", "policies.example.com"}


class _Any(Reconciler[Unstructured]):
    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


class _Election:
    """Stands in for a leader elector."""

    rbac = (LEADER_ELECTION,)

    async def run(self) -> None:
        """Return at once."""


async def test_any_runnable_can_say_what_it_needs() -> None:
    """The permissions of any runnable count, in the login's namespace if the runnable declares that."""
    async with Manager(CONFIG) as manager:
        manager.add(_Election())
        assert shown(manager) == [
            f"{verb} leases.coordination.k8s.io in namespace 'operators'" for verb in ("create", "get", "update")
        ]
