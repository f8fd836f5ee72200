"""APIServices of an extension API server, and its Service."""

from __future__ import annotations

from typing import Any

from pyctrl.extension_apiserver import api_services
from pyctrl.packaging._objects.workload import APISERVER
from pyctrl.packaging._project import Project

__all__ = ["objects_of_apiservices", "service"]

Object = dict[str, Any]


def objects_of_apiservices(project: Project) -> list[Object]:
    """Return the APIServices. The program writes the CA of its certificate into them."""
    found = api_services(project.served_kinds, project.apiserver_service)
    for each in found:
        each["metadata"]["labels"] = project.labels
        each["metadata"] = dict(sorted(each["metadata"].items()))
    return found


def service(project: Project) -> Object:
    """Return the Service of the extension API server.

    It also selects pods that are not ready: a pod is ready once its caches are synced, which may be those of kinds that
    the program serves itself.
    """
    port = {"port": project.apiserver_service.port, "protocol": "TCP", "targetPort": APISERVER}
    spec: Object = {"ports": [port], "publishNotReadyAddresses": True, "selector": project.selector}
    return project.make("v1", "Service", project.apiserver_service.name, namespaced=True, spec=spec)
