"""Addresses of kubelets, and the errors of nodes whose kubelet is not simulated."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._errors import StatusError, not_found, unknown_error
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["dial_error", "kubelet_address"]

KUBELET_PORT = 10250
# As of kube-apiserver's --kubelet-preferred-address-types.
_PREFERRED = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")


def kubelet_address(storage: Storage, node: str) -> str:
    """Return host and port of the kubelet of a node.

    Raises:
        StatusError: The node does not exist, or has no address.
    """
    stored = storage.collection("", "nodes").find("", node)
    if stored is None:
        raise not_found("pods", node)  # as upstream, which takes it for an error about the resource of the request
    status: dict[str, Any] = stored.decode().get("status") or {}
    addresses = {each["type"]: each["address"] for each in reversed(status.get("addresses") or ())}
    host = next((addresses[kind] for kind in _PREFERRED if addresses.get(kind)), "")
    if not host:
        raise unknown_error("no preferred addresses found; known addresses: []")
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or KUBELET_PORT
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def dial_error(address: str, prefix: str) -> StatusError:
    """Return the error of an address at which nothing listens."""
    return unknown_error(f"{prefix}dial tcp {address}: connect: connection refused")
