"""The root document, and the OpenAPI document as protobuf."""

from __future__ import annotations

import msgspec
import yaml

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


def test_the_first_page_lists_where_to_go() -> None:
    """`/` lists the served paths, indented."""
    body = _text(_get("/"))
    assert "\n  " in body
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/livez/ping", "/version"} <= set(
        msgspec.json.decode(body)["paths"]
    )


def test_discovery_is_yaml_for_who_accepts_that() -> None:
    """A group as YAML has the content of the one as JSON."""
    answer = _get("/apis/apps", accept="application/yaml")
    assert dict(answer.headers)["Content-Type"] == "application/yaml"
    assert yaml.safe_load(_text(answer)) == msgspec.json.decode(_text(_get("/apis/apps")))


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


def test_documents_of_one_media_type_are_refused_to_others() -> None:
    """A client that does not accept JSON gets 406 for the version, and without a body for an OpenAPI document."""
    refused = _get("/version", accept="application/vnd.kubernetes.protobuf")
    assert (refused.status, "Available representations: application/json" in _text(refused)) == (406, True)
    assert _get("/version", accept="text/html, */*").status == 200
    for path in ("/openapi/v2", "/openapi/v3/api/v1"):
        found = _get(path, accept="application/yaml")
        assert (found.status, found.body) == (406, b"")
        assert _get(path, accept="application/yaml, application/json").status == 200
