"""The OpenAPI document as protobuf."""

from __future__ import annotations

import yaml

from pyctrl._protobuf_wire import fields
from pyctrl.apiserver import ApiServer, Response

SERVER = ApiServer()


PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def _get(path: str, *query: tuple[str, str], accept: str = "") -> Response:
    return SERVER.handle_nowait("GET", path, query, {"Accept": accept} if accept else {})


def test_definitions_are_there_as_protobuf() -> None:
    """The protobuf document has the schemas with the extension that names their kind."""
    answer = _get("/openapi/v2", accept=PROTOBUF)
    assert dict(answer.headers)["Content-Type"].endswith("+protobuf")
    assert isinstance(answer.body, bytes)
    document = {number: value for number, _, value in fields(answer.body)}
    assert document[1] == b"2.0"
    schemas = {}
    for _, _, entry in fields(_bytes(document[9])):
        (_, _, name), (_, _, schema) = fields(_bytes(entry))
        schemas[_bytes(name).decode()] = list(fields(_bytes(schema)))
    port = schemas["io.k8s.api.core.v1.ContainerPort"]
    assert [value for number, _, value in port if number == 19] == [b"containerPort"]
    extensions = [_bytes(value) for number, _, value in schemas["io.k8s.api.core.v1.ConfigMap"] if number == 31]
    (_, _, name), (_, _, value) = fields(extensions[0])
    (_, _, text) = next(fields(_bytes(value)))
    assert name == b"x-kubernetes-group-version-kind"
    assert yaml.safe_load(_bytes(text)) == [{"group": "", "kind": "ConfigMap", "version": "v1"}]


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value
