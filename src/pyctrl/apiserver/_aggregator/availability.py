"""Availability of extension API servers, as kube-aggregator's remote AvailableConditionController."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyctrl._go.text import quoted
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from pyctrl.apiserver._aggregator.service_transport import ServiceUnreachable
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._user import ADMINISTRATORS, User
from pyctrl.apiserver._webhooks import ServiceReference, WebhookUnreachable

__all__ = ["Availability", "AvailableConditionController"]

ATTEMPTS = 5  # requests of a check, at once, of which one has to succeed; kube-aggregator's number
CHECK_SECONDS = 5.0  # for the response to a discovery check; kube-aggregator's limit

AGGREGATOR = User(name="system:kube-aggregator", groups=(ADMINISTRATORS,))

_SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Availability:
    """The condition Available of an APIService, without its time."""

    status: str
    reason: str
    message: str

    @property
    def is_available(self) -> bool:
        """Whether requests are proxied."""
        return self.status == "True"

    @property
    def is_retried(self) -> bool:
        """Whether the check is repeated soon: its result may change without an event."""
        return self.reason == "FailedDiscoveryCheck"


class AvailableConditionController:
    """Checks whether the service of an APIService exists, has endpoints and serves the group version."""

    def __init__(self, storage: Storage, proxy: ProxyHandler) -> None:
        self._services = storage.collection("", "services")
        self._slices = storage.collection("discovery.k8s.io", "endpointslices")
        self._proxy = proxy

    async def check(self, api: APIService) -> Availability:
        """Return the availability of an APIService now."""
        assert api.service is not None
        if (problem := self._service_problem(api.service)) is not None:
            return problem
        if why := await self._discovery_problem(api):
            return Availability("False", "FailedDiscoveryCheck", why)
        return Availability("True", "Passed", "all checks passed")

    def _service_problem(self, reference: ServiceReference) -> Availability | None:
        """Return why a service cannot be available, by its object and its endpoints."""
        named = f"service/{reference.name} in {quoted(reference.namespace)}"
        stored = self._services.find(reference.namespace, reference.name)
        if stored is None:
            return Availability("False", "ServiceNotFound", f"{named} is not present")
        spec = stored.decode()["spec"]
        if spec.get("type", "ClusterIP") != "ClusterIP":
            return None
        port = next((each for each in spec.get("ports") or () if each["port"] == reference.port), None)
        if port is None:
            return Availability("False", "ServicePortError", f"{named} is not listening on port {reference.port}")
        slices = [
            each.decode()
            for each in self._slices.current(reference.namespace)
            if each.labels.get(_SERVICE_LABEL) == reference.name
        ]
        if not slices:
            return Availability("False", "EndpointsNotFound", f"cannot find endpointslices for {named}")
        name = port.get("name") or ""
        if not any(_has_endpoint(each, name) for each in slices):
            message = f"endpointslices for {named} have no addresses with port name {quoted(name)}"
            return Availability("False", "MissingEndpoints", message)
        return None

    async def _discovery_problem(self, api: APIService) -> str:
        """Return why the group version cannot be discovered by any of several requests; "" if it can.

        Each request may be sent to another endpoint, of which one has to respond.
        """
        why = ""
        async with asyncio.TaskGroup() as group:
            attempts = [group.create_task(self._attempt(api)) for _ in range(ATTEMPTS)]
            for attempt in asyncio.as_completed(attempts):
                if not (why := await attempt):
                    break
            for each in attempts:
                each.cancel()
        return why

    async def _attempt(self, api: APIService) -> str:
        """Return why the discovery document of the group version cannot be read; "" if it can."""
        assert api.service is not None
        path = f"/apis/{api.group}/{api.version}" if api.group else f"/api/{api.version}"
        try:
            location = self._proxy.locate(api.service)
        except WebhookUnreachable as error:
            url = error.url and error.url + path  # of an endpoint that refuses connections
            return f'failing or missing response from {url}: Get "{url}": {error}' if url else str(error)
        url = location + path
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                response = await self._proxy.fetch(api, location, path, AGGREGATOR, {})
        except TimeoutError:
            why = f'Get "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        except (ServiceUnreachable, OSError) as error:
            why = f'Get "{url}": {error}'
        else:
            if 200 <= response.status < 300:
                return ""
            why = f"bad status from {url}: {response.status}"
        return f"failing or missing response from {url}: {why}"


def _has_endpoint(found: Mapping[str, Any], port_name: str) -> bool:
    """Return whether a slice has a ready endpoint, and a port of that name."""
    endpoints, ports = found.get("endpoints") or (), found.get("ports") or ()
    is_ready = any((each.get("conditions") or {}).get("ready") is not False for each in endpoints)
    return is_ready and any((each.get("name") or "") == port_name and each.get("port") for each in ports)
