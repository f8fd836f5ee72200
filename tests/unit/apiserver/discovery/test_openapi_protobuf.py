"""OpenAPI documents as protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from pyctrl._protobuf_wire import fields
from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._discovery.openapi import openapi_response
from pyctrl.apiserver._discovery.openapi_protobuf import document_as_protobuf

SERVER = ApiServer()
KIND = "x-kubernetes-group-version-kind"


def _members(data: bytes) -> dict[int, list[Any]]:
    """Return the values of a message by field number."""
    found: dict[int, list[Any]] = {}
    for number, _, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def _pairs(entries: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the values of named entries."""
    for entry in entries:
        members = _members(entry)
        yield members[1][0].decode(), members[2][0]


def _extensions(entries: list[bytes]) -> dict[str, Any]:
    return {name: yaml.safe_load(_members(value)[2][0]) for name, value in _pairs(entries)}


def _document(path: str) -> dict[int, list[Any]]:
    found = openapi_response(SERVER.registry, path)
    assert found is not None
    return _members(document_as_protobuf(found))


def test_a_v2_document_has_schemas_and_paths() -> None:
    """The v2 document has the schemas with the extension that names their kind, and the operations of each path."""
    document = _document("/openapi/v2")
    assert document[1] == [b"2.0"]
    schemas = dict(_pairs(_members(document[9][0])[1]))
    assert _members(schemas["io.k8s.api.core.v1.ContainerPort"])[19] == [b"containerPort"]
    extensions = _extensions(_members(schemas["io.k8s.api.core.v1.ConfigMap"])[31])
    assert extensions[KIND] == [{"group": "", "kind": "ConfigMap", "version": "v1"}]
    paths = dict(_pairs(_members(document[8][0])[2]))
    (create,) = _members(paths["/api/v1/namespaces"])[4]
    assert _members(create)[5] == [b"createCoreV1Namespace"]
    (parameter,) = _members(_members(create)[8][0])[1]  # a parameter, and no reference
    assert _members(_members(parameter)[1][0])[2] == [b"body"]


def test_a_v3_document_says_which_parameters_a_patch_has() -> None:
    """The operations of a v3 document have their kind and their parameters, by which kubectl decides what it sends."""
    document = _document("/openapi/v3/apis/apps/v1")
    paths = dict(_pairs(_members(document[4][0])[1]))
    (patch,) = _members(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"])[10]
    assert _extensions(_members(patch)[13])[KIND] == {"group": "apps", "kind": "Deployment", "version": "v1"}
    parameters = [_members(_members(each)[1][0]) for each in _members(patch)[6]]
    assert b"fieldValidation" in [each[1][0] for each in parameters]


@pytest.mark.parametrize(
    ("schema", "member"),
    [
        ({"$ref": "#/a"}, {2: [{1: [b"#/a"]}]}),
        ({"default": 0}, {1: [{33: [{1: [bytes(8)]}]}]}),
        ({"default": ""}, {1: [{33: [{3: [b""]}]}]}),
        ({"default": False}, {1: [{33: [{2: [0]}]}]}),
        ({"default": {}}, {1: [{33: [{}]}]}),
        ({"minLength": 0, "nullable": False, "title": ""}, {1: [{}]}),
        ({"maxLength": -1}, {1: [{15: [2**64 - 1]}]}),
        ({"additionalProperties": False}, {1: [{32: [{2: [0]}]}]}),
        ({"items": {"$ref": "#/a"}}, {1: [{30: [{1: [{2: [{1: [b"#/a"]}]}]}]}]}),
        ({"properties": {"x-a": {"$ref": "#/a"}}}, {1: [{31: [{1: [{1: [b"x-a"], 2: [{2: [{1: [b"#/a"]}]}]}]}]}]}),
        ({"required": ["a", ""]}, {1: [{23: [b"a", b""]}]}),
        ({"enum": ["a", 1]}, {1: [{24: [{2: [b"a\n"]}, {2: [b"1\n"]}]}]}),
    ],
)
def test_each_form_of_a_schema(schema: Any, member: Any) -> None:
    """References, defaults, limits and items of a schema have upstream's form; zeros are left out."""
    document = {"openapi": "3.0.0", "components": {"schemas": {"A": schema}}}
    (components,) = _members(document_as_protobuf(document))[5]
    ((_, value),) = _pairs(_members(_members(components)[1][0])[1])
    assert _shaped(value, member) == member


def _shaped(data: bytes, like: Any) -> Any:
    """Decode as far as the expected message goes."""
    return {
        number: [
            _shaped(value, like[number][at]) if number in like and isinstance(like[number][at], dict) else value
            for at, value in enumerate(values)
        ]
        for number, values in _members(data).items()
    }
