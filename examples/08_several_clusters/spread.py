"""Spread: keeps a copy of each labelled ConfigMap in every member cluster."""

from contextlib import suppress
from pathlib import Path

from pyctrl import Builder, Manager, ObjectMeta, ObjectReconciler, Request, allow
from pyctrl.controller import Finalizers, labels_match
from pyctrl.errors import NotFound, NotSynced
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import ClusterProvider, Fleet, KubeconfigProvider

LABEL = "example.com/spread"
MEMBERS = "members"


class SpreadReconciler(ObjectReconciler[ConfigMap]):
    rbac = (allow(ConfigMap, "create", "patch", "delete", cluster=MEMBERS),)

    def __init__(self, members: Fleet) -> None:
        self.members, self.finalizers = members, Finalizers[ConfigMap]()
        self.finalizers.register("example.com/spread", self.delete)

    async def reconcile_object(self, config_map: ConfigMap) -> None:
        key = config_map.key
        metadata = ObjectMeta(name=key.name, namespace=key.namespace, labels={LABEL: "copy"})
        for member in list(self.members.values()):
            with suppress(NotSynced):  # it is joining, and `all_of` repeats this when its cache is filled
                await member.client.create_or_apply(ConfigMap(metadata=metadata, data=config_map.data), force=True)

    async def delete(self, config_map: ConfigMap) -> None:
        for member in list(self.members.values()):
            with suppress(NotFound):
                await member.client.delete(ConfigMap, config_map.key)


def add_spread(manager: Manager, *, clusters: Path = Path("clusters")) -> None:
    """Add the operator; each file of the directory is a kubeconfig of a member."""
    add_members(manager, KubeconfigProvider(clusters))


def add_members(manager: Manager, provider: ClusterProvider) -> Fleet:
    members = manager.add_fleet(MEMBERS, provider)

    async def all_of(cluster: str) -> list[Request]:  # for a member that joins
        return [Request.of(each) for each in await manager.client.list(ConfigMap, labels=LABEL)]

    (
        Builder(manager)
        .filter(labels_match(LABEL))
        .reconciles(ConfigMap)
        .reads(ConfigMap, cluster=members)  # the copies
        .watches_clusters(members, all_of)
        .build(SpreadReconciler(members))
    )
    return members
