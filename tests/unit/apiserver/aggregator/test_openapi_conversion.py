"""Conversion of OpenAPI v2 documents to v3."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._aggregator.openapi_conversion import to_openapi_v3


def converted(**document: Any) -> dict[str, Any]:
    """Return the v3 document of a v2 document."""
    return to_openapi_v3({"swagger": "2.0", "info": {"title": "flavors"}, **document})


def schema(value: dict[str, Any]) -> Any:
    """Return a converted definition."""
    return converted(definitions={"Flavor": value})["components"]["schemas"]["Flavor"]


def test_references_lead_to_the_components() -> None:
    """Everywhere in a schema. A reference with other fields is in an allOf."""
    old, new = {"$ref": "#/definitions/Taste"}, {"$ref": "#/components/schemas/Taste"}
    nested = {
        "type": "object",
        "properties": {"a": old, "b": {"type": "array", "items": old}, "$ref": {"type": "string"}},
        "additionalProperties": old,
    }
    assert schema(nested) == {
        "type": "object",
        "properties": {"a": new, "b": {"type": "array", "items": new}, "$ref": {"type": "string"}},
        "additionalProperties": new,
    }
    assert schema({**old, "description": "d"}) == {"allOf": [new], "description": "d"}
    assert schema({"additionalProperties": True, "enum": ["a"]}) == {"additionalProperties": True, "enum": ["a"]}


def test_bodies_have_a_schema_for_each_media_type() -> None:
    """That of a request is no parameter any more."""
    body = {"name": "body", "in": "body", "schema": {"$ref": "#/definitions/Flavor"}}
    limit = {"name": "limit", "in": "query", "type": "integer", "uniqueItems": True, "description": "d"}
    responses = {
        "200": {"description": "OK", "schema": {"type": "string"}},
        "401": {"description": "Unauthorized"},
        "default": {"$ref": "#/responses/Error"},
    }
    operation = {
        "operationId": "create",
        "x-kubernetes-action": "post",
        "schemes": ["https"],
        "consumes": ["*/*"],
        "produces": ["application/json", "application/yaml"],
        "parameters": [body, limit],
        "responses": responses,
    }
    found = converted(paths={"/flavors": {"post": operation, "parameters": [{"$ref": "#/parameters/pretty-1"}]}})
    content = {"schema": {"type": "string"}}
    assert found["paths"]["/flavors"] == {
        "parameters": [{"$ref": "#/components/parameters/pretty-1"}],
        "post": {
            "operationId": "create",
            "x-kubernetes-action": "post",
            "requestBody": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/Flavor"}}}},
            "parameters": [
                {
                    "name": "limit",
                    "in": "query",
                    "description": "d",
                    "schema": {"type": "integer", "uniqueItems": True},
                }
            ],
            "responses": {
                "200": {"description": "OK", "content": {"application/json": content, "application/yaml": content}},
                "401": {"description": "Unauthorized"},
                "default": {"$ref": "#/components/responses/Error"},
            },
        },
    }


def test_the_document_keeps_what_v3_has() -> None:
    """Its information and its security schemes; an empty part is left out."""
    bearer = {"type": "apiKey", "name": "authorization", "in": "header"}
    oauth = {"type": "oauth2", "flow": "implicit", "authorizationUrl": "https://a", "scopes": {"a": "b"}}
    assert converted(securityDefinitions={"Bearer": bearer, "OAuth": oauth}, host="h") == {
        "openapi": "3.0.0",
        "info": {"title": "flavors"},
        "paths": {},
        "components": {
            "securitySchemes": {
                "Bearer": bearer,
                "OAuth": {
                    "type": "oauth2",
                    "flows": {"implicit": {"authorizationUrl": "https://a", "scopes": {"a": "b"}}},
                },
            }
        },
    }
