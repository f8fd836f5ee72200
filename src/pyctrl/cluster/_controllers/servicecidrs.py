"""ServiceCIDR controller: protects ranges of cluster IPs that are in use, and reports which ranges are ready.

The rules are those of kube-controller-manager's controller (pkg/controller/servicecidrs).
"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address, ip_network

from pyctrl import _clock
from pyctrl.api import Condition, add_finalizer, is_deleting, remove_finalizer, set_condition
from pyctrl.client import merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.networking.v1 import IPAddress, ServiceCIDR

__all__ = ["ServiceCIDRReconciler", "add_service_cidrs"]

FINALIZER = "networking.k8s.io/service-cidr-finalizer"
MANAGED_BY, ALLOCATOR = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"
GRACE = timedelta(seconds=10)  # from the deletion to the removal, so that no allocator uses the range any more
READY = Condition(type="Ready", status="True", message="Kubernetes Service CIDR is ready")
IN_USE = Condition(
    type="Ready",
    status="False",
    reason="Terminating",
    message="There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
)


def add_service_cidrs(host: ManagedCluster) -> Controller:
    """Run the ServiceCIDR controller in a manager."""
    return Builder(host).reconciles(ServiceCIDR).options(name="service-cidrs").build(ServiceCIDRReconciler())


class ServiceCIDRReconciler(Reconciler[ServiceCIDR]):
    """Adds the finalizer and the condition Ready; lets a deleted range go when no address needs it.

    While addresses need a deleted range, it looks at them again from time to time, instead of watching all addresses.
    """

    async def reconcile(self, request: Request) -> Result | None:
        cidr = await self.client.find(ServiceCIDR, request.key)
        if cidr is None:
            return None
        try:
            if is_deleting(cidr):
                return await self._release(cidr)
            await self._keep(cidr)
        except (NotFound, Conflict):
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None

    async def _keep(self, cidr: ServiceCIDR) -> None:
        before = cidr.deep_copy()
        if add_finalizer(cidr, FINALIZER):
            await self.client.patch(cidr, merge_from(before, optimistic_lock=True))
        await self._set_condition(cidr, READY)

    async def _release(self, cidr: ServiceCIDR) -> Result | None:
        """Remove the finalizer after the grace period, if no address is left without a range."""
        if not await self._may_go(cidr):
            await self._set_condition(cidr, IN_USE)
            return Result(requeue_after=GRACE)
        deleted = cidr.metadata.deletion_timestamp
        remaining = timedelta(0) if deleted is None else deleted + GRACE - _clock.now()
        if remaining > timedelta(0):
            return Result(requeue_after=remaining)
        before = cidr.deep_copy()
        if remove_finalizer(cidr, FINALIZER):
            await self.client.patch(cidr, merge_from(before, optimistic_lock=True))
        return None

    async def _may_go(self, cidr: ServiceCIDR) -> bool:
        """Return whether each address of the range is in another range, too."""
        every = await self.client.list(ServiceCIDR)
        others = [
            ip_network(text) for each in every if each.metadata.name != cidr.metadata.name for text in each.spec.cidrs
        ]
        own = [ip_network(text) for text in cidr.spec.cidrs]
        for address in await self.client.list(IPAddress):
            if address.metadata.labels.get(MANAGED_BY) != ALLOCATOR:
                continue
            number = ip_address(address.metadata.name)
            if any(number in each for each in own) and not any(number in each for each in others):
                return False
        return True

    async def _set_condition(self, cidr: ServiceCIDR, condition: Condition) -> None:
        before = cidr.deep_copy()
        if set_condition(cidr.status.conditions, condition):
            await self.client.status.patch(cidr, merge_from(before))
