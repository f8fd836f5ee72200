"""Locations of pods, services and nodes, as their subresource proxy finds them."""

from __future__ import annotations

import ipaddress
from typing import Any, NamedTuple

from pyctrl.apiserver._errors import StatusError, bad_request, not_found, status_error
from pyctrl.apiserver._proxy.round_tripper import ServiceUnreachable
from pyctrl.apiserver._registry._pods.kubelet_connection import kubelet_address
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["ResourceLocation", "locate_node", "locate_pod", "locate_service", "service_unavailable"]


class ResourceLocation(NamedTuple):
    """Where a request is sent: to a port of a pod, or to the kubelet of a node."""

    scheme: str
    host: str
    port: str  # "" for the default of the scheme
    pod: str  # "" for a kubelet
    node: str  # "" for an address that is no pod's

    @property
    def address(self) -> str:
        """Host and port, as errors of Go's dialer show them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port or ('443' if self.scheme == 'https' else '80')}"

    def connection_refused(self) -> ServiceUnreachable:
        """Return the error of an address at which nothing listens."""
        return ServiceUnreachable(f"dial tcp {self.address}: connect: connection refused")


def service_unavailable(message: str) -> StatusError:
    """503: the service cannot be reached."""
    return status_error(503, "ServiceUnavailable", message)


def locate_pod(storage: Storage, request: ResourceRequest) -> ResourceLocation:
    """Return the location of the pod of a request for ``NAME``, ``NAME:PORT`` or ``SCHEME:NAME:PORT``.

    Raises:
        StatusError: The name is malformed (400), the pod does not exist (404) or has no address (400).
    """
    scheme, name, port = _split(request, "pod")
    pod = _read(storage, request, "pods", name)
    ports = [each["containerPort"] for container in pod["spec"]["containers"] for each in container.get("ports") or ()]
    return _of_pod(pod, scheme or "http", port or next(map(str, ports), ""))


def locate_service(storage: Storage, request: ResourceRequest) -> ResourceLocation:
    """Return the location of an endpoint of the service of a request.

    Raises:
        StatusError: The name is malformed (400), the service has no Endpoints (404) or no such port or address (503).
    """
    scheme, name, port = _split(request, "service")
    if port.isdecimal():
        service = _read(storage, request, "services", name)
        found = next((each for each in service["spec"].get("ports") or () if each["port"] == int(port)), None)
        if found is None:
            raise service_unavailable(f'no service port {port} found for service "{name}"')
        port = found.get("name") or ""
    subsets = _read(storage, request, "endpoints", name).get("subsets") or ()
    if not subsets:
        raise service_unavailable(f'no endpoints available for service "{name}"')
    for subset in subsets:
        number = next((each["port"] for each in subset.get("ports") or () if (each.get("name") or "") == port), None)
        for address in subset.get("addresses") or () if number is not None else ():
            pod = _find_pod(storage, request, address.get("targetRef") or {})
            if pod is not None:
                return _of_pod(pod, scheme or "http", str(number))
    raise service_unavailable(f'no endpoints available for service "{request.target.name}"')


def locate_node(storage: Storage, request: ResourceRequest) -> ResourceLocation:
    """Return the location of a node, by default that of its kubelet.

    Raises:
        StatusError: The name is malformed (400), the node does not exist (404) or has no address (500).
    """
    scheme, name, port = _split(request, "node")
    _read(storage, request, "nodes", name)
    host, _, kubelet_port = kubelet_address(storage, name).rpartition(":")
    if not _is_proxyable(host := host.strip("[]")):
        raise bad_request("address not allowed")
    if port in ("", kubelet_port):
        return ResourceLocation("https", host, kubelet_port, "", name)
    return ResourceLocation(scheme or "http", host, port, "", "")


def _split(request: ResourceRequest, kind: str) -> tuple[str, str, str]:
    parts = request.target.name.split(":")
    if len(parts) <= 2:
        parts = ["", *parts]
    scheme, name, port = (*parts, "")[:3]
    if len(parts) > 3 or scheme not in ("", "http", "https") or not name:
        raise bad_request(f'invalid {kind} request "{request.target.name}"')
    return scheme, name, port


def _read(storage: Storage, request: ResourceRequest, resource: str, name: str) -> dict[str, Any]:
    stored = storage.collection("", resource).find(request.target.namespace, name)
    if stored is None:
        raise not_found(request.target.resource, name)
    decoded: dict[str, Any] = stored.decode()
    return decoded


def _find_pod(storage: Storage, request: ResourceRequest, reference: dict[str, Any]) -> dict[str, Any] | None:
    """Return the pod of an endpoint; requests are sent to pods only."""
    if reference.get("kind") != "Pod" or reference.get("namespace") != request.target.namespace:
        return None
    stored = storage.collection("", "pods").find(request.target.namespace, reference.get("name") or "")
    return None if stored is None else stored.decode()


def _of_pod(pod: dict[str, Any], scheme: str, port: str) -> ResourceLocation:
    address = (pod.get("status") or {}).get("podIP") or ""
    if not address or not _is_proxyable(address):
        raise bad_request("address not allowed")
    return ResourceLocation(scheme, address, port, pod["metadata"]["name"], pod["spec"].get("nodeName") or "")


def _is_proxyable(host: str) -> bool:
    """Return whether requests may be sent to an address: not to the machine of the API server. Names are accepted."""
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return True
    return not (parsed.is_loopback or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified)
