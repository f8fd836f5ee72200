"""Resolver of webhooks' services to endpoints: the server has no cluster network for service addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Protocol

from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._webhooks.caller import ServiceReference, WebhookUnreachable

__all__ = ["EndpointServiceResolver", "ServiceResolver"]


_SERVICE_LABEL = "kubernetes.io/service-name"


class ServiceResolver(Protocol):
    """Returns the host and port to connect to for a service."""

    def __call__(self, service: ServiceReference, /) -> tuple[str, int]:
        """Return host and port.

        Raises:
            WebhookUnreachable: The service has no endpoint; the text is the reason.
        """
        ...


class EndpointServiceResolver:
    """Resolves services to the ready endpoints of their EndpointSlices, or to their external names."""

    def __init__(self, storage: Storage, random: Random | None = None) -> None:
        self._storage = storage
        self._random = random or Random(0)  # its own: which endpoint is called changes no uids and names

    def __call__(self, reference: ServiceReference, /) -> tuple[str, int]:
        """Return any of the ready endpoints."""
        stored = self._storage.collection("", "services").find(reference.namespace, reference.name)
        if stored is None:
            raise WebhookUnreachable(f'service "{reference.name}" not found')
        spec = stored.decode()["spec"]
        if spec.get("type") == "ExternalName":
            return str(spec["externalName"]), reference.port
        port = next((each for each in spec.get("ports") or () if each["port"] == reference.port), None)
        if port is None:
            raise WebhookUnreachable(f'no service port {reference.port} found for service "{reference.name}"')
        if found := list(self._endpoints(reference, port)):
            return self._random.choice(found)
        raise WebhookUnreachable(f'no endpoints available for service "{reference.name}"')

    def _endpoints(self, reference: ServiceReference, port: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        for stored in self._storage.collection("discovery.k8s.io", "endpointslices").current(reference.namespace):
            if stored.labels.get(_SERVICE_LABEL) != reference.name:
                continue
            found = stored.decode()
            number = _port_of(found, port)
            for endpoint in found.get("endpoints") or ():
                if number and (endpoint.get("conditions") or {}).get("ready") is not False:
                    yield str(endpoint["addresses"][0]), number


def _port_of(found: Mapping[str, Any], port: Mapping[str, Any]) -> int:
    """Return the number of a service's port in a slice: ports are matched by name."""
    name = port.get("name") or ""
    return next((int(each["port"]) for each in found.get("ports") or () if (each.get("name") or "") == name), 0)
