"""Health checks, the root document, and the OpenAPI document as protobuf."""

from __future__ import annotations

import msgspec
import pytest

from pyctrl.apiserver import ApiServer, ResourceRegistry, Response
from pyctrl.apiserver._discovery.discovery import AGGREGATED
from pyctrl.apiserver._discovery.documents import NonResourcePaths
from pyctrl.apiserver._request.request import QueryParameters
from tests.unit.apiserver._objects import install, spec_schema

SERVER = ApiServer()


def _get(path: str, *query: tuple[str, str], accept: str = "") -> Response:
    return SERVER.handle_nowait("GET", path, query, {"Accept": accept} if accept else {})


def _text(answer: Response) -> str:
    assert isinstance(answer.body, bytes)
    return answer.body.decode()


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/etcd-readiness"])
def test_a_server_that_answers_is_well(path: str) -> None:
    """Each health endpoint, and the path of each check, responds with ok."""
    assert (_get(path).status, _text(_get(path))) == (200, "ok")


def test_health_lists_its_checks_when_asked() -> None:
    """With verbose the response has a line per check, and lists excluded and unknown checks."""
    told = _text(_get("/readyz", ("verbose", ""), ("exclude", "etcd"), ("exclude", "nope"))).splitlines()
    assert told[0] == "[+]ping ok"
    assert "[+]etcd excluded: ok" in told
    assert told[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "nope"',
        "readyz check passed",
    ]


def test_a_check_that_is_not_there_is_no_page() -> None:
    """An unknown check is 404, as in kube-apiserver."""
    assert (_get("/livez/nope").status, _text(_get("/livez/nope"))) == (404, "404 page not found\n")


def test_the_first_page_lists_where_to_go() -> None:
    """`/` lists the served paths, indented."""
    body = _text(_get("/"))
    assert "\n  " in body
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/livez/ping", "/version"} <= set(
        msgspec.json.decode(body)["paths"]
    )


def test_a_document_that_a_client_has_is_not_sent_again() -> None:
    """Aggregated discovery has an Etag; a request with it gets 304 until the served resources change."""
    registry = ResourceRegistry()
    documents = NonResourcePaths(registry)

    def answer(known: str = "") -> Response:
        return documents.response("GET", "/apis", QueryParameters(()), AGGREGATED, known)

    tag = dict(answer().headers)["Etag"]
    assert (answer(tag).status, answer(tag).body) == (304, b"")
    install(registry, spec_schema({}))
    assert (answer(tag).status, dict(answer().headers)["Etag"] == tag) == (200, False)
