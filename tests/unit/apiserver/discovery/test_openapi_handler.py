"""Handler of the OpenAPI documents."""

from __future__ import annotations

import json

import msgspec
import pytest

from pyctrl.apiserver import ApiServer, ResourceRegistry, Response
from pyctrl.apiserver._discovery.documents import NonResourcePaths
from pyctrl.apiserver._request.request import QueryParameters
from tests.unit.apiserver._objects import install, spec_schema

PATH = "/openapi/v3/apis/apps/v1"
PROTOBUF = "application/com.github.proto-openapi.spec.{}.v1.0+protobuf"


def _get(path: str, *query: tuple[str, str], server: ApiServer | None = None, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return (server or ApiServer()).handle_nowait("GET", path, query, named)


def _hash(path: str, server: ApiServer) -> str:
    body = _get("/openapi/v3", server=server).body
    assert isinstance(body, bytes)
    url: str = msgspec.json.decode(body)["paths"][path.removeprefix("/openapi/v3/")]["serverRelativeURL"]
    return url.partition("?hash=")[2]


@pytest.mark.parametrize("path", [PATH, "/openapi/v2"])
def test_a_document_that_a_client_has_is_not_sent_again(path: str) -> None:
    """An OpenAPI document has an Etag, and a request with it gets 304, also for the form as protobuf."""
    tag = dict(_get(path).headers)["Etag"]
    assert _get(path, If_None_Match=tag).status == 304
    assert dict(_get(path, Accept=PROTOBUF.format(path[9:11])).headers)["Etag"] == tag
    assert _get(path, If_None_Match='"other"').status == 200


def test_a_document_under_its_hash_never_changes() -> None:
    """The response to a request with the hash of the index may be kept for a year."""
    server = ApiServer()
    found = _get(PATH, ("hash", tag := _hash(PATH, server)), server=server)
    headers = dict(found.headers)
    assert (found.status, headers["Etag"], headers["Vary"]) == (200, f'"{tag}"', "Accept")
    assert headers["Cache-Control"] == "public, immutable"
    assert headers["Expires"].endswith(" UTC")
    assert "Expires" not in dict(_get(PATH, server=server).headers)


def test_an_old_hash_leads_to_the_current_document() -> None:
    """A request with the hash of a document before a change is redirected to the URL with the new hash."""
    registry, path = ResourceRegistry(), "/openapi/v3/apis/test.example.com/v1"
    documents = NonResourcePaths(registry)

    def get(*query: tuple[str, str]) -> Response:
        return documents.response("GET", path, QueryParameters(query), "")

    install(registry, spec_schema({"size": {"type": "integer"}}))
    old = dict(get().headers)["Etag"].strip('"')
    assert get(("hash", old)).status == 200
    install(registry, spec_schema({"size": {"type": "string"}}))
    moved = get(("hash", old))
    assert (moved.status, moved.body) == (301, b"")
    new = dict(get().headers)["Etag"].strip('"')
    assert dict(moved.headers)["Location"] == f"{path}?hash={new}"


@pytest.mark.parametrize("accept", ["", "*/*", "application/*;q=0.5, text/html", "application/json"])
def test_a_document_is_json_by_default(accept: str) -> None:
    """Who accepts anything gets JSON."""
    found = _get(PATH, Accept=accept)
    assert dict(found.headers)["Content-Type"] == "application/json"
    assert isinstance(found.body, bytes)
    assert json.loads(found.body)["openapi"] == "3.0.0"


@pytest.mark.parametrize(("path", "version"), [(PATH, "v3"), ("/openapi/v2", "v2")])
def test_the_first_accepted_form_is_sent(path: str, version: str) -> None:
    """The form is that of the most preferred media type; the old name of protobuf works, too."""
    protobuf = PROTOBUF.format(version)
    for accept in (protobuf, protobuf.replace(f"{version}.v1", f"{version}@v1"), f"application/json;q=0.1,{protobuf}"):
        assert dict(_get(path, Accept=accept).headers)["Content-Type"] == protobuf


@pytest.mark.parametrize("path", ["/openapi/v3/apis/nosuch/v1", f"{PATH}/", "/openapi/v3/"])
def test_a_document_that_does_not_exist_has_no_body(path: str) -> None:
    """A group version that is not served gets 404 without a body, whatever the client accepts, as does a last slash."""
    for accept in ("", "text/html"):
        found = _get(path, Accept=accept)
        assert (found.status, found.body) == (404, b"")
    assert _get("/openapi/v2/").body == b"404 page not found\n"
