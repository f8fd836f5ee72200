"""EndpointSlice controller: the EndpointSlices of services.

The rules are those of kube-controller-manager's endpointslice controller (pkg/controller/endpointslice).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import is_controlled_by, is_deleting
from pyctrl.cluster._controllers.endpointslice.slices import SlicePlan, plan_slices
from pyctrl.cluster._controllers.service_endpoints import ServiceIndex, ServiceReconciler, set_trigger_time
from pyctrl.cluster._controllers.service_pods import ServiceEndpoint
from pyctrl.controller import Builder, Controller, ManagedCluster, reading
from pyctrl.kinds.core.v1 import Node, Pod, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice

__all__ = ["EndpointSliceReconciler", "add_endpointslices"]


def add_endpointslices(host: ManagedCluster, services: ServiceIndex) -> Controller:
    """Run the endpointslice controller in a manager. The endpoints controller may share the index."""
    return (
        Builder(host)
        .reconciles(Service)
        .options(name="endpointslice", workers=4)
        .owns(EndpointSlice)
        .watches(Service, services.on_service)
        .watches(Pod, services.on_pod)
        .reads(reading(Node, triggers=False))
        .build(EndpointSliceReconciler(services))
    )


class EndpointSliceReconciler(ServiceReconciler):
    """Writes the EndpointSlices of services; the garbage collector deletes them."""

    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        owned = await self.client.list(EndpointSlice, index=("owner", service.metadata.uid))
        present = [each for each in owned if is_controlled_by(each, service) and not is_deleting(each)]
        await self._write(plan_slices(service, endpoints, present), triggered)

    async def _write(self, plan: SlicePlan, triggered: str | None) -> None:
        for each in plan.create:
            set_trigger_time(each.metadata, triggered)
            await self.client.create(each)
        for each in plan.update:
            set_trigger_time(each.metadata, triggered)
            await self.client.update(each)
        for each in plan.delete:
            await self.client.delete(each)
