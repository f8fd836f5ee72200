"""The packed parts of OpenAPI documents."""

from __future__ import annotations

from pyctrl._schemas.openapi_documents import OpenAPIDocuments, openapi_documents


def test_repeated_parts_are_put_where_they_were() -> None:
    """A part that occurs twice is the same object in both places; parts may have shared parts."""
    packed = {
        "shared": [{"name": "a", "schema": {"$": 1}}, {"type": "string"}],
        "parts": {"paths": {"api/v1": {"get": [{"$": 0}, {"$": 0}], "put": {"$": 1}}}, "documents": {}, "v2": {}},
    }
    paths = OpenAPIDocuments(packed).paths("api/v1")
    schema = {"type": "string"}
    assert paths == {"get": [{"name": "a", "schema": schema}, {"name": "a", "schema": schema}], "put": schema}
    assert paths["get"][0] is paths["get"][1]


def test_documents_that_do_not_exist_are_empty() -> None:
    """Groups of definitions have no documents in the file."""
    found = openapi_documents()
    assert found.paths("apis/example.com/v1") == {}
    assert found.document("apis/apps/v1") == {}
    assert found.document("apis/apps")["paths"].keys() == {"/apis/apps/"}


def test_each_document_has_a_hash() -> None:
    """The index names each document that is in the file, and its hash."""
    found = openapi_documents()
    for path, text in found.hashes():
        assert len(text) == 128
        assert bool(found.paths(path)) != bool(found.document(path)), path
    assert found.version_2()["swagger"] == "2.0"
