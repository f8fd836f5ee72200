"""Inventory: a web service that lists what a cluster has, and creates and deletes one Deployment with its Service.

No manager, no cache, no reconciler: an operator is only a client of the API server, and this is the client alone.

| request | what it does |
|---|---|
| GET /nodes, GET /namespaces | lists all of the cluster |
| GET /deployments?ns=NAME, GET /services?ns=NAME | lists those of a namespace; of all of them without ``ns`` |
| POST /deployments, POST /services | creates the Deployment, or the Service, ``k8s-test-stub`` |
| DELETE /k8s-test-stub | deletes both, the Deployment first |

Answers are the JSON that a Go service with client-go gives: lists and objects as they are, refusals as ``ErrStatus``.
Nobody is asked who they are: whoever reaches this service acts with its rights.
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
    """The requests, each a method, and the client that they ask.

    Args:
        client: who asks the API server; stays the caller's to close.
        namespace: where the Deployment and the Service are created and deleted.
    """

    #: What its account has to be allowed; config/role.yaml is made of it.
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
        """Delete the Deployment, then the Service; one that is gone already is told of, and does not keep the other."""
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
        """Say that this process answers; the API server is not asked."""
        return web.Response(text="ok")


def namespace_of(request: web.Request) -> str | None:
    """Return what ``?ns=`` says; nothing, or nothing behind it, means all namespaces."""
    namespace = request.query.get("ns") or None
    if namespace is not None and not A_NAMESPACE.fullmatch(namespace):
        raise BadRequest(f"ns={namespace!r} is not the name of a namespace: small letters, digits and hyphens")
    return namespace


def as_json(obj: KubernetesObject) -> dict[str, Any]:
    """Return an object as client-go prints it: of what kind it is, is said by the request."""
    return {name: value for name, value in obj.to_wire().items() if name not in ("apiVersion", "kind")}


def list_as_json(objects: ObjectList[Any]) -> dict[str, Any]:
    """Return a list as client-go prints it."""
    return {"metadata": objects.metadata.to_wire(), "items": [as_json(obj) for obj in objects]}


@web.middleware
async def refusals_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answer what the API server refused with its code and its Status; 503 when it could not be asked."""
    try:
        return await handler(request)
    except ApiError as error:
        return refusal(error)
    except PyctrlError as error:
        return refusal(ServiceUnavailable(str(error)))


def refusal(error: ApiError) -> web.Response:
    """Return the answer to a refusal, in the shape of client-go's error."""
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
    """Make the Deployment: two pods of nginx."""
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
    """Make the Service: port 80 of these pods, at a port of every node that the cluster chooses."""
    meta = ObjectMeta(name=NAME, namespace=namespace, labels=LABELS, annotations={"creator": "k8s-test-operator"})
    port = ServicePort(name="http", protocol="TCP", port=80, target_port=80)
    return Service(metadata=meta, spec=ServiceSpec(type="NodePort", selector=LABELS, ports=[port]))
