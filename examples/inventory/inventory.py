"""Inventory: a web service that lists a cluster's objects, and creates and deletes one Deployment with its Service.

It uses only pyctrl's client, without a manager, a cache or a reconciler.

| request | what it does |
|---|---|
| GET /nodes, GET /namespaces | lists those of the cluster |
| GET /deployments?ns=NAME, GET /services?ns=NAME | lists those of a namespace; of all of them without ``ns`` |
| POST /deployments, POST /services | creates the Deployment, or the Service, ``k8s-test-stub`` |
| DELETE /k8s-test-stub | deletes both, the Deployment first |

Responses are the JSON of a Go service with client-go: lists and objects as they are, errors as ``ErrStatus``. There is
no authentication: every client of this service acts with its permissions.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

from aiohttp import web

from pyctrl.api import Key, KubernetesObject, ObjectMeta
from pyctrl.client import Client, ObjectList
from pyctrl.errors import ApiError, BadRequest, NotFound, PyctrlError, ServiceUnavailable
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment
from pyctrl.kinds.core.v1 import (
    Container,
    Namespace,
    Node,
    PodSpec,
    PodTemplateSpec,
    Service,
    ServicePort,
    ServiceSpec,
)
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.rbac import Permission, PermissionScope, allow

__all__ = ["Inventory", "stub_deployment", "stub_service"]

NAME = "k8s-test-stub"
LABELS = {"app": "k8s-test-app"}
A_NAMESPACE = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")  # RFC 1123, as for the API server


class Inventory:
    """The request handlers, and their client.

    Args:
        client: the client of the API server. The caller closes it.
        namespace: the namespace of the Deployment and the Service.
    """

    #: The permissions of its service account; config/role.yaml is generated from them.
    rbac: ClassVar[Sequence[Permission]] = (
        allow(Node, "list"),
        allow(Namespace, "list"),
        allow(Deployment, "list", where=PermissionScope.CLUSTER),
        allow(Service, "list", where=PermissionScope.CLUSTER),
        allow(Deployment, "create", "delete", where=PermissionScope.OWN),
        allow(Service, "create", "delete", where=PermissionScope.OWN),
    )

    def __init__(self, client: Client, namespace: str = "testing") -> None:
        self._client, self._namespace = client, namespace

    def application(self) -> web.Application:
        """Return the web application."""
        app = web.Application(middlewares=[refusals_as_json])
        app.add_routes(
            [
                web.get("/nodes", self.list_nodes),
                web.get("/namespaces", self.list_namespaces),
                web.get("/deployments", self.list_deployments),
                web.get("/services", self.list_services),
                web.post("/deployments", self.create_deployment),
                web.post("/services", self.create_service),
                web.delete(f"/{NAME}", self.delete_both),
                web.get("/healthz", self.is_up),
            ]
        )
        return app

    async def list_nodes(self, request: web.Request) -> web.Response:
        """List all nodes."""
        return web.json_response(list_as_json(await self._client.list(Node)))

    async def list_namespaces(self, request: web.Request) -> web.Response:
        """List all namespaces."""
        return web.json_response(list_as_json(await self._client.list(Namespace)))

    async def list_deployments(self, request: web.Request) -> web.Response:
        """List the Deployments of a namespace, or of all."""
        found = await self._client.list(Deployment, namespace=namespace_of(request))
        return web.json_response(list_as_json(found))

    async def list_services(self, request: web.Request) -> web.Response:
        """List the Services of a namespace, or of all."""
        found = await self._client.list(Service, namespace=namespace_of(request))
        return web.json_response(list_as_json(found))

    async def create_deployment(self, request: web.Request) -> web.Response:
        """Create the Deployment."""
        return web.json_response(as_json(await self._client.create(stub_deployment(self._namespace))))

    async def create_service(self, request: web.Request) -> web.Response:
        """Create the Service."""
        return web.json_response(as_json(await self._client.create(stub_service(self._namespace))))

    async def delete_both(self, request: web.Request) -> web.Response:
        """Delete the Deployment, then the Service. Both are tried, and a missing one is an error."""
        missing: NotFound | None = None
        for kind in (Deployment, Service):
            try:
                await self._client.delete(kind, Key(self._namespace, NAME))
            except NotFound as error:
                missing = missing or error
        if missing is not None:
            raise missing
        return web.json_response(None)

    async def is_up(self, request: web.Request) -> web.Response:
        """Respond to health checks, without a request to the API server."""
        return web.Response(text="ok")


def namespace_of(request: web.Request) -> str | None:
    """Return the namespace of ``?ns=``; None, for all namespaces, if it is missing or empty."""
    namespace = request.query.get("ns") or None
    if namespace is not None and not A_NAMESPACE.fullmatch(namespace):
        raise BadRequest(f"ns={namespace!r} is not the name of a namespace: small letters, digits and hyphens")
    return namespace


def as_json(obj: KubernetesObject) -> dict[str, Any]:
    """Return an object as client-go prints it, without apiVersion and kind."""
    return {name: value for name, value in obj.to_wire().items() if name not in ("apiVersion", "kind")}


def list_as_json(objects: ObjectList[Any]) -> dict[str, Any]:
    """Return a list as client-go prints it."""
    return {"metadata": objects.metadata.to_wire(), "items": [as_json(obj) for obj in objects]}


@web.middleware
async def refusals_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Respond to API errors with their code and Status, and with 503 if the API server is unreachable."""
    try:
        return await handler(request)
    except ApiError as error:
        return refusal(error)
    except PyctrlError as error:
        return refusal(ServiceUnavailable(str(error)))


def refusal(error: ApiError) -> web.Response:
    """Return the response for an API error, in the form of client-go's error."""
    status = {
        "metadata": {},
        "status": "Failure",
        "message": error.message,
        "reason": error.reason,
        **{name: value for name, value in error.status.items() if name not in ("apiVersion", "kind")},
        "code": error.code,
    }
    return web.json_response({"ErrStatus": status}, status=error.code)


def stub_deployment(namespace: str) -> Deployment:
    """Return the Deployment: two pods of nginx."""
    meta = ObjectMeta(name=NAME, namespace=namespace, labels=LABELS, annotations={"creator": "k8s-operator-test"})
    pods = PodSpec(
        containers=[Container(name="nginx", image="nginx:alpine")],
        restart_policy="Always",
        dns_policy="ClusterFirst",
        automount_service_account_token=True,
    )
    return Deployment(
        metadata=meta,
        spec=DeploymentSpec(
            replicas=2,
            selector=LabelSelector(match_labels=LABELS),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=LABELS), spec=pods),
            strategy=DeploymentStrategy(
                type="RollingUpdate",
                rolling_update=RollingUpdateDeployment(max_unavailable="25%", max_surge="25%"),
            ),
        ),
    )


def stub_service(namespace: str) -> Service:
    """Return the Service: a NodePort for port 80 of these pods."""
    meta = ObjectMeta(name=NAME, namespace=namespace, labels=LABELS, annotations={"creator": "k8s-test-operator"})
    port = ServicePort(name="http", protocol="TCP", port=80, target_port=80)
    return Service(metadata=meta, spec=ServiceSpec(type="NodePort", selector=LABELS, ports=[port]))
