"""An extension API server behind the aggregator of an API server in the same process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyctrl.api import Key, KubernetesObject
from pyctrl.extension_apiserver._api_services import api_services

__all__ = ["in_process_host", "in_process_objects"]

PORT = 443
DOMAIN = "extension-apiservers.pyctrl.invalid"  # .invalid never resolves: no request leaves the process


def in_process_host(service: Key) -> str:
    """Return the host name to which a Service of `in_process_objects` resolves: its key in `service_transports`."""
    return f"{service.name}.{service.namespace}.{DOMAIN}"


def in_process_objects(kinds: Iterable[type[KubernetesObject]], service: Key) -> list[dict[str, Any]]:
    """Return the Service and the APIServices of kinds that are served in the process of their API server."""
    from pyctrl.webhook import Service  # here: it needs more than most programs

    metadata = {"name": service.name, "namespace": service.namespace}
    spec = {"type": "ExternalName", "externalName": in_process_host(service), "ports": [{"port": PORT}]}
    made = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    return [made, *api_services(kinds, Service(service.namespace, service.name, port=PORT))]
