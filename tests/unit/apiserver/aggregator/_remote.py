"""An extension API server in a few lines, and an API server in front of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any
from urllib.parse import urlsplit

from pyctrl.apiserver import ApiServer, ProxyRequest, Response, ServiceUnreachable

HOST = "flavors.pyctrl.invalid"
GROUP, VERSION = "flavors.example.com", "v1"
PATH = f"/apis/{GROUP}/{VERSION}"
NAME = f"{VERSION}.{GROUP}"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SERVICES = "/api/v1/namespaces/default/services"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

RESOURCE = {"resource": "flavors", "responseKind": {"kind": "Flavor"}, "scope": "Cluster", "verbs": ["list"]}
DISCOVERY: dict[str, Any] = {
    "kind": "APIGroupDiscoveryList",
    "items": [{"metadata": {"name": GROUP}, "versions": [{"version": VERSION, "resources": [RESOURCE]}]}],
}
LEGACY = {
    "kind": "APIResourceList",
    "groupVersion": f"{GROUP}/{VERSION}",
    "resources": [
        {"name": "flavors", "singularName": "flavor", "kind": "Flavor", "namespaced": False, "verbs": ["list"]},
        {"name": "flavors/status", "kind": "Flavor", "verbs": ["get"], "namespaced": False},
    ],
}


class Remote:
    """A `ServiceTransport` that answers from documents by path; a document is JSON, or a whole response."""

    def __init__(self, documents: Mapping[str, Any] | None = None) -> None:
        self.documents: dict[str, Any] = {PATH: LEGACY, "/apis": DISCOVERY, **(documents or {})}
        self.requests: list[ProxyRequest] = []
        self.why_down = ""

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Return the document of a path, or 404."""
        self.requests.append(request)
        if self.why_down:
            raise ServiceUnreachable(self.why_down)
        found = self.documents.get(urlsplit(request.url).path)
        if isinstance(found, Response):
            return found
        return Response(status=404 if found is None else 200, body=json.dumps(found or {}).encode())

    def paths(self) -> Sequence[str]:
        """Return the paths of all requests in order."""
        return [urlsplit(each.url).path for each in self.requests]


def api_service(version: str = VERSION, *, group: str = GROUP, **spec: Any) -> dict[str, Any]:
    """Return an APIService with the service `flavors`."""
    return {
        "metadata": {"name": f"{version}.{group}"},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "service": {"namespace": "default", "name": "flavors"},
            **spec,
        },
    }


def service(**spec: Any) -> dict[str, Any]:
    """Return the service `flavors`, which leads into this process."""
    return {"metadata": {"name": "flavors"}, "spec": {"type": "ExternalName", "externalName": HOST, **spec}}


def extended(remote: Remote, *api_services: dict[str, Any], **options: Any) -> ApiServer:
    """Return a server with the service and APIServices of `remote`, by default one."""
    server = ApiServer(random=Random(7), **options)
    server.service_transports[HOST] = remote
    create(server, SERVICES, service())
    for each in api_services or (api_service(),):
        create(server, API_SERVICES, each)
    return server


def create(server: ApiServer, path: str, obj: dict[str, Any]) -> None:
    """Create an object."""
    own = {"Authorization": f"Bearer {server.loopback_token}"}
    made = server.handle_nowait("POST", path, headers=own, body=json.dumps(obj).encode())
    assert made.status == 201, made.body


async def get(server: ApiServer, path: str, accept: str = "") -> tuple[int, Any]:
    """Return the code and the decoded body of a GET request; text where it is no JSON."""
    headers = {"Authorization": f"Bearer {server.loopback_token}", **({"Accept": accept} if accept else {})}
    response = await server.handle("GET", path, (), headers, b"")
    assert isinstance(response.body, bytes)
    try:
        return response.status, json.loads(response.body)
    except ValueError:
        return response.status, response.body.decode()


async def condition(server: ApiServer, name: str = NAME) -> dict[str, Any]:
    """Return the condition Available of an APIService; {} if it has none."""
    _, found = await get(server, f"{API_SERVICES}/{name}")
    conditions = found.get("status", {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == "Available"), {})


async def until_available(server: ApiServer, status: str = "True") -> None:
    """Wait until the condition has a status, by following the APIServices."""
    collection = server.storage.collection("apiregistration.k8s.io", "apiservices")
    while (await condition(server)).get("status") != status:
        version = server.storage.version
        await server.storage.reaches(version + 1, seconds=3600)
    assert collection.find("", NAME) is not None
