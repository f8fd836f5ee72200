"""Resource quota controller: writes the usage of namespaces into the status of their quotas.

The rules are those of kube-controller-manager's resource quota controller (pkg/controller/resourcequota).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from pyctrl._quota import Evaluator, calculate_usage, evaluator_of, read_resources, write_resources
from pyctrl.api import GroupVersionKind, KubernetesObject, Metadata
from pyctrl.client import Client
from pyctrl.cluster._controllers.resourcequota.quota_monitor import QuotaMonitor, tracked_kinds
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Predicate, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod, ResourceQuota, Service

__all__ = ["ResourceQuotaReconciler", "add_resource_quotas"]

_RETRY = timedelta(milliseconds=10)  # the API server admitted a write meanwhile
RESYNC = timedelta(minutes=5)  # upstream's full recalculation of all quotas

_MEASURED: Mapping[tuple[str, str], type[KubernetesObject]] = {
    ("", "pods"): Pod,
    ("", "services"): Service,
    ("", "persistentvolumeclaims"): PersistentVolumeClaim,
}


def _limits_changed(observed: ObjectChange[ResourceQuota]) -> bool:
    """Return whether the limits of a quota are new; changes of its status are made here and by the API server."""
    old, new = observed.old, observed.new
    return old is None or new is None or old.spec.hard != new.spec.hard


def add_resource_quotas(host: ManagedCluster) -> Controller:
    """Run the resource quota controller in a manager."""
    live = host.client.live
    return (
        Builder(host)
        .reconciles(ResourceQuota, predicates=[Predicate(_limits_changed, "limits changed")])
        .watches_source(QuotaMonitor(host.cache, live))
        .options(name="resourcequota", workers=2)
        .build(ResourceQuotaReconciler(live))
    )


class ResourceQuotaReconciler(Reconciler[ResourceQuota]):
    """Calculates the usage of one quota.

    It reads from the API server, the quota first. If the server admits a write after that, the quota has another
    version and the result is discarded: it would lack the object of this write.
    """

    def __init__(self, live: Client) -> None:
        self._live = live

    async def reconcile(self, request: Request) -> Result | None:
        try:
            quota = (await self._live.get(ResourceQuota, request.key)).to_wire()
            status = await self._status(quota, request.namespace)
            if status != _comparable(quota.get("status") or {}):
                await self._live.status.update(ResourceQuota.from_wire({**quota, "status": status}))
        except NotFound:
            return None
        except Conflict:
            return Result(requeue_after=_RETRY)
        return Result(requeue_after=RESYNC)

    async def _status(self, quota: Mapping[str, Any], namespace: str) -> dict[str, dict[str, str]]:
        hard = read_resources(quota["spec"].get("hard"))
        counted: list[tuple[Evaluator, Callable[[], Iterable[Mapping[str, Any]]]]] = []
        for (group, resource), gvk in await tracked_kinds(self._live, hard):
            objects = await self._objects(group, resource, gvk, namespace)
            counted.append((evaluator_of(group, resource), objects.copy))
        usage = {**read_resources((quota.get("status") or {}).get("used")), **calculate_usage(quota, counted)}
        known = {name: amount for name, amount in usage.items() if name in hard}
        return {"hard": write_resources(hard), "used": write_resources(known)}

    async def _objects(
        self, group: str, resource: str, gvk: GroupVersionKind, namespace: str
    ) -> list[Mapping[str, Any]]:
        measured = _MEASURED.get((group, resource))
        found = await self._live.list(measured or Metadata.of(gvk), namespace=namespace)
        return [each.to_wire() if measured else {} for each in found]


def _comparable(status: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {part: write_resources(read_resources(status.get(part))) for part in ("hard", "used")}
