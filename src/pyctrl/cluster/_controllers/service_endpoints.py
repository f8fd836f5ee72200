"""Common part of the endpoints and endpointslice controllers: services, the pods behind them, and trigger times."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pyctrl.api import Key, LabelSelector, ObjectMeta, format_time, is_deleting
from pyctrl.cluster._controllers.service_pods import PodFacts, ServiceEndpoint, endpoints_of, pod_facts
from pyctrl.cluster._namespace_termination import ignore_outdated
from pyctrl.controller import ObjectChange, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists
from pyctrl.kinds.core.v1 import Node, Pod, Service

__all__ = ["HEADLESS", "ServiceIndex", "ServiceReconciler", "TriggerTimeTracker", "set_trigger_time"]

HEADLESS = "service.kubernetes.io/headless"  # the label of the endpoints of headless services
LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
ZONE = "topology.kubernetes.io/zone"


class ServiceIndex:
    """Services by selector and pods by labels, so that each finds the other.

    Both are updated by watch events. A service with many pods is reconciled often, and decoding its pods each time
    would dominate the cost.
    """

    def __init__(self) -> None:
        self._selectors: dict[str, dict[Request, LabelSelector]] = {}
        self._pods: dict[str, dict[str, PodFacts]] = {}

    def pods_of(self, namespace: str, selector: Mapping[str, str]) -> list[PodFacts]:
        """Return the pods that a selector matches."""
        wanted = selector.items()
        return [pod for pod in self._pods.get(namespace, {}).values() if wanted <= pod.labels.items()]

    def on_service(self, observed: ObjectChange[Service]) -> list[Request]:
        """Update the selector of a service; enqueue nothing, since the service has its own source."""
        request, service = Request(*observed.current.key), observed.new
        known = self._selectors.setdefault(request.namespace, {})
        known.pop(request, None)
        if service is not None and service.spec.selector:
            known[request] = LabelSelector.from_dict(service.spec.selector)
        return []

    def on_pod(self, observed: ObjectChange[Pod]) -> list[Request]:
        """Update a pod; enqueue the services that select it, or did, if the pod has changed for them."""
        namespace, name = observed.current.key
        old, new = pod_facts(observed.before), pod_facts(observed.after)
        known = self._pods.setdefault(namespace, {})
        known.pop(name, None)
        if new is not None:
            known[name] = new
        if old == new:
            return []
        labels = [facts.labels for facts in (old, new) if facts is not None]
        selectors = self._selectors.get(namespace, {})
        return [request for request, selector in selectors.items() if any(map(selector.matches, labels))]


class TriggerTimeTracker:
    """Trigger times of endpoint changes, for the annotation that measures programming latency."""

    def __init__(self) -> None:
        self._services: dict[Request, str | None] = {}
        self._pods: dict[Request, dict[str, str]] = {}

    def time(self, request: Request, service: Service, pods: Sequence[PodFacts]) -> str | None:
        """Return the earliest change since the last call; for a new service its creation time."""
        creation, is_known = service.metadata.creation_timestamp, request in self._services
        created = None if creation is None else format_time(creation)
        now = {pod.name: pod.ready_since for pod in pods if pod.ready_since is not None}
        before = self._pods.get(request, {})
        changed = [at for name, at in now.items() if name not in before or at > before[name]]
        if is_known and created is not None and created != self._services[request]:
            changed.append(created)
        self._services[request], self._pods[request] = created, now
        return min(changed, default=None) if is_known else created

    def forget(self, request: Request) -> None:
        """Forget a deleted service."""
        self._services.pop(request, None)
        self._pods.pop(request, None)


class ServiceReconciler(Reconciler[Service]):
    """Base of both controllers: finds the pods addresses a service."""

    def __init__(self, services: ServiceIndex) -> None:
        self._services = services
        self._triggers = TriggerTimeTracker()

    async def reconcile(self, request: Request) -> Result | None:
        service = await self.client.find(Service, request.key)
        if service is None:
            self._triggers.forget(request)
            await self._delete(request.key)
            return None
        spec = service.spec
        if not spec.selector or spec.type == "ExternalName" or is_deleting(service):
            return None  # the endpoints of such a service are not managed here
        pods = self._services.pods_of(request.namespace, spec.selector)
        zones = {node: zone for node in {pod.node for pod in pods} if (zone := await self._zone(node))}
        triggered = self._triggers.time(request, service, pods)
        with ignore_outdated(), suppress(AlreadyExists):
            await self._sync(service, endpoints_of(service, pods, zones), triggered)
        return None

    async def _zone(self, node: str) -> str | None:
        found = await self.client.find(Node, Key("", node)) if node else None
        return found.metadata.labels.get(ZONE) if found is not None else None

    @abstractmethod
    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        """Write the endpoints of a service."""

    async def _delete(self, key: Key) -> None:
        """Clean up after a deleted service."""


def set_trigger_time(meta: ObjectMeta, triggered: str | None) -> None:
    """Set or remove the trigger time annotation."""
    if triggered is not None:
        meta.annotations[LAST_CHANGE_TRIGGER_TIME] = triggered
    else:
        meta.annotations.pop(LAST_CHANGE_TRIGGER_TIME, None)
