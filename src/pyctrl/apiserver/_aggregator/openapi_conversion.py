"""Conversion of OpenAPI v2 documents to v3, as kube-openapi's `openapiconv`. Security and defaults are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["to_openapi_v3"]

Document = dict[str, Any]

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_OF_OPERATIONS = ("tags", "summary", "description", "externalDocs", "operationId", "deprecated")
_OF_PARAMETERS = ("name", "description", "in", "required", "allowEmptyValue")
_OF_VALUES = ("type", "format", "uniqueItems")
_OF_SCHEMES = ("type", "description", "name", "in")


def to_openapi_v3(document: Document) -> Document:
    """Return an OpenAPI v2 document as v3."""
    paths = {path: _extension(path, each) or _path(each) for path, each in (document.get("paths") or {}).items()}
    parts: Document = {
        "schemas": {name: _schema(each) for name, each in (document.get("definitions") or {}).items()},
        "responses": _responses(document.get("responses") or {}, document.get("produces") or ()),
        "securitySchemes": {name: _scheme(each) for name, each in (document.get("securityDefinitions") or {}).items()},
    }
    kept: Document = {name: document[name] for name in ("info", "externalDocs") if name in document}
    components = {name: part for name, part in parts.items() if part}
    return {"openapi": "3.0.0", **kept, "paths": paths, "components": components}


def _extension(name: str, value: Any) -> Any:
    """Return the value of an extension, None for other fields."""
    return value if name.startswith("x-") else None


def _picked(value: Document, names: Sequence[str]) -> Document:
    """Return some fields of a value, and its extensions."""
    return {name: each for name, each in value.items() if name in names or name.startswith("x-")}


def _path(path: Document) -> Document:
    found = _picked(path, ("$ref",))
    found |= {method: _operation(path[method]) for method in _METHODS if method in path}
    if parameters := [_parameter(each) for each in path.get("parameters") or ()]:
        found["parameters"] = parameters
    return found


def _operation(operation: Document) -> Document:
    found = _picked(operation, _OF_OPERATIONS)
    parameters: list[Document] = operation.get("parameters") or []
    bodies = [each for each in parameters if each.get("name") == "body" and "schema" in each]
    if others := [_parameter(each) for each in parameters if each not in bodies]:
        found["parameters"] = others
    if bodies:
        found["requestBody"] = _content(bodies[-1]["schema"], operation.get("consumes") or ())
    return {**found, "responses": _responses(operation.get("responses") or {}, operation.get("produces") or ())}


def _content(schema: Document, media_types: Sequence[str]) -> Document:
    content = {media_type: {"schema": _schema(schema)} for media_type in media_types}
    return {"content": content} if content else {}


def _responses(responses: Document, produces: Sequence[str]) -> Document:
    return {code: _extension(code, each) or _response(each, produces) for code, each in responses.items()}


def _response(response: Document, produces: Sequence[str]) -> Document:
    if "$ref" in response:
        return {"$ref": response["$ref"].replace("#/responses/", "#/components/responses/", 1)}
    content = _content(response["schema"], produces) if "schema" in response else {}
    return {**_picked(response, ("description",)), **content}


def _parameter(parameter: Document) -> Document:
    if "$ref" in parameter:
        return {"$ref": parameter["$ref"].replace("#/parameters/", "#/components/parameters/", 1)}
    value = {name: parameter[name] for name in _OF_VALUES if name in parameter}
    schema = _schema(parameter["schema"]) if "schema" in parameter else value
    return {**_picked(parameter, _OF_PARAMETERS), "schema": schema}


def _scheme(scheme: Document) -> Document:
    found = _picked(scheme, _OF_SCHEMES)
    if flow := scheme.get("flow"):
        names = ("authorizationUrl", "tokenUrl", "scopes")
        found["flows"] = {flow: {name: scheme[name] for name in names if name in scheme}}
    return found


def _schema(schema: Any) -> Any:
    """Return a schema with the references of v3. A reference beside other fields becomes an allOf of its own."""
    if isinstance(schema, list):
        return [_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _part(name, value) for name, value in schema.items()}
    if "$ref" not in schema:
        return found
    reference = {"$ref": schema["$ref"].replace("#/definitions/", "#/components/schemas/", 1)}
    others = {name: value for name, value in found.items() if name != "$ref"}
    return {"allOf": [reference], **others} if others else reference


def _part(name: str, value: Any) -> Any:
    if name == "properties":
        return {field: _schema(each) for field, each in value.items()}
    is_schema = name in ("items", "additionalProperties", "additionalItems", "allOf", "anyOf", "oneOf", "not")
    return _schema(value) if is_schema else value
