"""Resolver of webhooks' services to endpoints: the server has no cluster network, neither for services nor for pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Protocol

from pyctrl.apiserver._kubelet import KubeletServer
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
    """Resolves services to the ready endpoints of their EndpointSlices, or to their external names.

    Args:
        kubelets: The kubelets in this process by node: a pod there has no address, but maybe ports at this machine.
    """

    def __init__(
        self, storage: Storage, kubelets: Mapping[str, KubeletServer] | None = None, random: Random | None = None
    ) -> None:
        self._storage, self._kubelets = storage, {} if kubelets is None else kubelets
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
            return self._address(*self._random.choice(found))
        raise WebhookUnreachable(f'no endpoints available for service "{reference.name}"')

    def _endpoints(self, reference: ServiceReference, port: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the ready endpoints, each with its port."""
        for stored in self._storage.collection("discovery.k8s.io", "endpointslices").current(reference.namespace):
            if stored.labels.get(_SERVICE_LABEL) != reference.name:
                continue
            found = stored.decode()
            number = _port_of(found, port)
            for endpoint in found.get("endpoints") or ():
                if number and (endpoint.get("conditions") or {}).get("ready") is not False:
                    yield endpoint, number

    def _address(self, endpoint: Mapping[str, Any], number: int) -> tuple[str, int]:
        """Return where to connect to an endpoint.

        Raises:
            WebhookUnreachable: It is a simulated pod of which no port is at this machine.
        """
        address, pod = str(endpoint["addresses"][0]), endpoint.get("targetRef") or {}
        kubelet = self._kubelets.get(endpoint.get("nodeName") or "")
        if kubelet is None or pod.get("kind") != "Pod":
            return address, number
        if (found := kubelet.find_address(pod["namespace"], pod["name"], number)) is not None:
            return found
        where = f"[{address}]:{number}" if ":" in address else f"{address}:{number}"
        raise WebhookUnreachable(f"dial tcp {where}: connect: connection refused", url=f"https://{where}")


def _port_of(found: Mapping[str, Any], port: Mapping[str, Any]) -> int:
    """Return the number of a service's port in a slice: ports are matched by name."""
    name = port.get("name") or ""
    return next((int(each["port"]) for each in found.get("ports") or () if (each.get("name") or "") == name), 0)
