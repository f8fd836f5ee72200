"""APIServices of an extension API server."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyctrl.api import Key, KubernetesObject

if TYPE_CHECKING:
    from pyctrl.webhook import Service

__all__ = ["api_service_names", "api_services", "in_process_host", "in_process_objects"]

DOMAIN = "extension-apiservers.pyctrl.invalid"  # .invalid never resolves: no request leaves the process
HTTPS = 443
GROUP_PRIORITY, VERSION_PRIORITY = 1000, 100  # of the groups of CustomResourceDefinitions in kube-apiserver


def api_service_names(kinds: Iterable[type[KubernetesObject]]) -> list[str]:
    """Return the names of the APIServices of kinds: one for each group and version."""
    return sorted({f"{kind.gvk.version}.{kind.gvk.group}" for kind in kinds})


def api_services(
    kinds: Iterable[type[KubernetesObject]], service: Service, *, ca_bundle: bytes = b""
) -> list[dict[str, Any]]:
    """Return the APIServices of kinds, by which kube-apiserver proxies requests for them to a Service.

    Args:
        kinds: the classes of the kinds.
        service: the Service of the extension API server.
        ca_bundle: PEM of the CA of its certificate; empty: injected later, by `ManagedCertificates` for example.
    """
    found = []
    for name in api_service_names(kinds):
        version, _, group = name.partition(".")
        spec: dict[str, Any] = {
            "group": group,
            "groupPriorityMinimum": GROUP_PRIORITY,
            "service": {"name": service.name, "namespace": service.namespace, "port": service.port},
            "version": version,
            "versionPriority": VERSION_PRIORITY,
        }
        if ca_bundle:
            spec["caBundle"] = base64.b64encode(ca_bundle).decode()
        found.append(
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": name},
                "spec": spec,
            }
        )
    return found


def in_process_host(service: Key) -> str:
    """Return the host name to which a Service of `in_process_objects` resolves: its key in `service_transports`."""
    return f"{service.name}.{service.namespace}.{DOMAIN}"


def in_process_objects(kinds: Iterable[type[KubernetesObject]], service: Key) -> list[dict[str, Any]]:
    """Return the Service and the APIServices of kinds that are served in the process of their API server."""
    from pyctrl.webhook import Service  # here: it needs more than most programs

    metadata = {"name": service.name, "namespace": service.namespace}
    spec = {"type": "ExternalName", "externalName": in_process_host(service), "ports": [{"port": HTTPS}]}
    made = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    return [made, *api_services(kinds, Service(service.namespace, service.name, port=HTTPS))]
