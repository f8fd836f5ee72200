"""Endpoints and EndpointSlice of the service `kubernetes`, which kube-apiserver itself maintains in a real cluster."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from pyctrl.api import Key, ObjectMeta
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result, TickSource
from pyctrl.errors import AlreadyExists
from pyctrl.kinds.core.v1 import EndpointAddress, EndpointPort, Endpoints, EndpointSubset
from pyctrl.kinds.discovery.v1 import Endpoint, EndpointConditions, EndpointSlice
from pyctrl.kinds.discovery.v1 import EndpointPort as SlicePort

__all__ = ["add_kubernetes_service"]

KUBERNETES = Key("default", "kubernetes")
ADDRESS, PORT = "192.168.96.1", 6443  # in the simulated nodes' network; nothing listens there


def add_kubernetes_service(host: ManagedCluster) -> None:
    """Run the controller of the service `kubernetes` in a manager; it reconciles once at start."""
    once = TickSource(timedelta(days=1), [Request(*KUBERNETES)], name="api-endpoints", random=host.random)
    Builder(host).watches_source(once).options(name="api-endpoints").build(KubernetesServiceReconciler())


class KubernetesServiceReconciler(Reconciler[Endpoints]):
    """Creates the Endpoints and the EndpointSlice of the service `kubernetes`."""

    async def reconcile(self, request: Request) -> Result | None:
        subset = EndpointSubset(
            addresses=[EndpointAddress(ip=ADDRESS)], ports=[EndpointPort(name="https", port=PORT, protocol="TCP")]
        )
        labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        name, namespace = request.name, request.namespace
        meta = ObjectMeta(name=name, namespace=namespace, labels=labels)
        with suppress(AlreadyExists):
            await self.client.create(Endpoints(metadata=meta, subsets=[subset]))
        meta = ObjectMeta(name=name, namespace=namespace, labels={"kubernetes.io/service-name": name})
        endpoint = Endpoint(addresses=[ADDRESS], conditions=EndpointConditions(ready=True))
        port = SlicePort(name="https", port=PORT, protocol="TCP")
        with suppress(AlreadyExists):
            await self.client.create(
                EndpointSlice(metadata=meta, address_type="IPv4", endpoints=[endpoint], ports=[port])
            )
        return None
