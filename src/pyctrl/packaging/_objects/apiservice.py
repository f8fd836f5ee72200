"""APIServices of an extension API server, its Service, and the bindings by which it asks kube-apiserver about users."""

from __future__ import annotations

from typing import Any

from pyctrl.extension_apiserver import api_services
from pyctrl.packaging._objects.workload import APISERVER
from pyctrl.packaging._project import Project

__all__ = ["auth_delegator_binding", "auth_reader_binding", "objects_of_apiservices", "service"]

Object = dict[str, Any]

_GROUP = "rbac.authorization.k8s.io"


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


def auth_delegator_binding(project: Project) -> Object:
    """Return the ClusterRoleBinding that lets the server review tokens and accesses."""
    return project.make(
        f"{_GROUP}/v1",
        "ClusterRoleBinding",
        project.called("auth-delegator"),
        roleRef={"apiGroup": _GROUP, "kind": "ClusterRole", "name": "system:auth-delegator"},
        subjects=[_account(project)],
    )


def auth_reader_binding(project: Project) -> Object:
    """Return the RoleBinding that lets the server read how the aggregator authenticates itself."""
    made = project.make(
        f"{_GROUP}/v1",
        "RoleBinding",
        project.called("auth-reader"),
        roleRef={"apiGroup": _GROUP, "kind": "Role", "name": "extension-apiserver-authentication-reader"},
        subjects=[_account(project)],
    )
    made["metadata"] = dict(sorted({**made["metadata"], "namespace": "kube-system"}.items()))
    return made


def _account(project: Project) -> Object:
    return {"kind": "ServiceAccount", "name": project.account.name, "namespace": project.namespace}
