"""Routing: paths, methods and namespaces that are not served."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver._objects import GROUP, definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("PUT", CONFIGMAPS, 405),
        ("POST", f"{CONFIGMAPS}/a", 405),
        ("POST", "/api/v1/configmaps", 405),
        ("DELETE", "/api/v1/configmaps", 405),
        ("GET", "/api/v1/namespaces/default/nosuch", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/apis/nosuch.io/v1/things", 404),
        ("GET", f"{CONFIGMAPS}/a/nosuch", 404),
        ("GET", "/nosuch", 404),
        ("GET", "//api/v1", 404),
        ("HEAD", "/openid/v1/jwks", 405),
    ],
)
def test_what_is_not_served(ask: Asker, method: str, path: str, code: int) -> None:
    """A path that does not exist is 404, an unsupported method is 405."""
    assert ask.answer(method, path).status == code


@pytest.mark.parametrize("accept", ["application/json;as=Table;v=v1;g=meta.k8s.io", "text/html"])
def test_what_is_not_served_has_no_media_type(ask: Asker, accept: str) -> None:
    """A path or method that is not served is 404 or 405, also for a client that accepts no form of the object."""
    ask.make("a")
    headers = {"Accept": accept}
    assert ask.server.handle_nowait("GET", f"{CONFIGMAPS}/a/nosuch", headers=headers).status == 404
    assert ask.server.handle_nowait("POST", f"{CONFIGMAPS}/a", headers=headers).status == 405
    assert ask.server.handle_nowait("GET", f"{CONFIGMAPS}/a", headers={"Accept": "text/html"}).status == 406


def test_an_object_in_a_namespace_is_not_found_without_it(ask: Asker) -> None:
    """Without a namespace only collections exist: an object is 404, and POST is 405."""
    assert ask("GET", "/api/v1/configmaps/a")[0] == 404
    assert ask("POST", "/api/v1/configmaps", {})[0] == 405


def test_a_stream_has_no_dry_run() -> None:
    """A dry run of a command in a container is refused before the pod is looked up."""
    path = "/api/v1/namespaces/default/pods/p/exec"
    server = ApiServer()
    assert server.handle_nowait("POST", path, [("dryRun", "All")]).status == 400
    assert server.handle_nowait("POST", path).status == 404
    assert server.handle_nowait("POST", path, [("dryRun", "All")]).status == 400
    assert server.handle_nowait("PUT", path, [("dryRun", "All")]).status == 405


def test_a_route_follows_its_definition(ask: Asker) -> None:
    """A subresource that a definition loses is 404 at once, although requests for it were answered before."""
    made = definition({"type": "object"}, subresources={"status": {}})
    crd = f"{DEFINITIONS}/{made['metadata']['name']}"
    assert ask("POST", DEFINITIONS, made)[0] == 201
    things = f"/apis/{GROUP}/v1/namespaces/default/{made['spec']['names']['plural']}"
    assert ask("POST", things, {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}})[0] == 201
    assert ask("GET", f"{things}/a/status")[0] == 200
    stored = ask("GET", crd)[1]
    del stored["spec"]["versions"][0]["subresources"]
    assert ask("PUT", crd, stored)[0] == 200
    assert ask("GET", f"{things}/a")[0] == 200
    assert ask("GET", f"{things}/a/status")[0] == 404
