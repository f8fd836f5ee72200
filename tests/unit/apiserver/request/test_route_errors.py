"""Methods that a path is not served with; the answers were observed on kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import ApiServer

NOT_ALLOWED = "the server does not allow this method on the requested resource"
NOT_FOUND = "the server could not find the requested resource"
PAGE = "404 page not found\n"


@pytest.fixture(scope="module")
def server() -> ApiServer:
    """Return a server with a namespaced custom resource, which has a status, and a cluster-scoped one."""
    server = ApiServer()
    for plural, kind, scope in (("widgets", "Widget", "Namespaced"), ("frames", "Frame", "Cluster")):
        schema = {"openAPIV3Schema": {"type": "object"}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
        spec = {"group": "e.io", "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": [version]}
        body = msgspec.json.encode({"metadata": {"name": f"{plural}.e.io"}, "spec": spec})
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert server.handle_nowait("POST", path, body=body).status == 201
    return server


def ask(server: ApiServer, method: str, path: str) -> tuple[int, str]:
    """Return the status of a response, and the message of its Status or its text."""
    headers = {"content-type": "application/merge-patch+json"} if method == "PATCH" else {}
    response = server.handle_nowait(method, path, headers=headers, body=b"{}")
    assert isinstance(response.body, bytes)
    if response.body.startswith(b"{"):
        document: dict[str, Any] = msgspec.json.decode(response.body)
        return response.status, document.get("message", document["kind"])
    return response.status, response.body.decode()


def unsupported(verb: str, resource: str = "widgets") -> tuple[int, str]:
    return 405, f'{verb} is not supported on resources of kind "{resource}.e.io"'


WIDGETS = "/apis/e.io/v1/namespaces/default/widgets"


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("OPTIONS", WIDGETS, unsupported("")),
        ("TRACE", "/apis/e.io/v1/frames/x", unsupported("", "frames")),
        ("DELETE", f"{WIDGETS}/x/status", unsupported("delete")),
        ("POST", f"{WIDGETS}/x/status", unsupported("create")),
        ("PUT", WIDGETS, (400, "name must be provided")),
        ("PATCH", "/apis/e.io/v1/frames", (400, "name must be provided")),
        ("GET", f"{WIDGETS}/x/none", (404, 'widgets.e.io "x" not found')),
        ("HEAD", WIDGETS, (200, "WidgetList")),
        ("HEAD", f"{WIDGETS}/x", (404, 'widgets.e.io "x" not found')),
    ],
)
def test_methods_of_custom_resources(server: ApiServer, method: str, path: str, answer: tuple[int, str]) -> None:
    """The error names the verb and the resource; HEAD is a read."""
    assert ask(server, method, path) == answer


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/apis/e.io/v1/none", "/apis/e.io/v1/namespaces/default/frames", "/apis/none/v1", "/apis/none/v1/things", "/none"],
)
def test_paths_of_no_group(server: ApiServer, method: str, path: str) -> None:
    """A path that no built-in group has is 404 in plain text, with every method."""
    assert ask(server, method, path) == (404, PAGE)


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("POST", "/api/v1/none", (404, NOT_FOUND)),
        ("PUT", "/api/v1/pods", (405, NOT_ALLOWED)),
        ("PUT", "/api/v1/namespaces/default/pods", (405, NOT_ALLOWED)),
        ("HEAD", "/api/v1/namespaces/default/pods", (405, NOT_ALLOWED)),
        ("OPTIONS", "/api/v1/namespaces/default/pods/x/log", (405, NOT_ALLOWED)),
        ("GET", "/api/v1/namespaces/default/pods/x/none", (404, NOT_FOUND)),
        ("POST", "/api/v1/watch/namespaces/default/pods", (405, NOT_ALLOWED)),
        ("DELETE", "/api/v1/watch/namespaces/default/pods/x", (405, NOT_ALLOWED)),
        ("POST", "/api/v1/watch/componentstatuses", (404, NOT_FOUND)),
        ("GET", "/apis//v1/pods", (404, PAGE)),
    ],
)
def test_methods_of_built_in_resources(server: ApiServer, method: str, path: str, answer: tuple[int, str]) -> None:
    """404 comes before 405; the old watch paths have GET only."""
    assert ask(server, method, path) == answer


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("POST", "/apis", (200, "APIGroupList")),
        ("DELETE", "/apis/apps", (200, "APIGroup")),
        ("PUT", "/apis/e.io/v1", (200, "APIResourceList")),
        ("POST", "/api", (405, NOT_ALLOWED)),
        ("HEAD", "/api/v1", (405, NOT_ALLOWED)),
        ("POST", "/apis/apps/v1", (405, NOT_ALLOWED)),
        ("HEAD", "/version", (405, NOT_ALLOWED)),
        ("HEAD", "/apis/e.io/v1", (200, "APIResourceList")),
    ],
)
def test_methods_of_discovery(server: ApiServer, method: str, path: str, answer: tuple[int, str]) -> None:
    """Documents of built-in versions are read by GET only; the others have any method."""
    assert ask(server, method, path) == answer
