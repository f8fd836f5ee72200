"""The log sub-resource of pods: scripted text, and who may read it when."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.kinds.core.v1 import Pod

PATH = "/api/v1/namespaces/default/pods/p/log"


async def serve_pod(**spec: object) -> ApiServer:
    """Return a server with a pod that has something to say."""
    server = ApiServer()
    metadata = {"name": "p", "namespace": "default", "annotations": {"pyctrl.dev/logs": "one\ntwo"}}
    containers = [{"name": name, "image": "i"} for name in ("a", "b")]
    async with Client(InProcessTransport(server)) as client:
        await client.create(Pod.from_wire({"metadata": metadata, "spec": {"containers": containers, **spec}}))
    return server


@pytest.mark.parametrize(
    ("spec", "query", "code", "text"),
    [
        ({"nodeName": "n"}, [("container", "a")], 200, b"one\ntwo\n"),
        ({"nodeName": "n"}, [("container", "b"), ("tailLines", "1")], 200, b"two\n"),
        ({"nodeName": "n"}, [], 400, b"a container name must be specified for pod p, choose one of: [a b]"),
        ({"nodeName": "n"}, [("container", "c")], 400, b"container c is not valid for pod p"),
        ({}, [("container", "a")], 400, b"pod p does not have a host assigned"),
    ],
)
async def test_a_pod_says_what_its_annotation_says(
    spec: dict[str, str], query: list[tuple[str, str]], code: int, text: bytes
) -> None:
    """One container's lines, the last ones if asked; a pod without a node and a wrong container are refused."""
    answer = await (await serve_pod(**spec)).handle("GET", PATH, query, {}, b"")
    assert answer.status == code
    assert isinstance(answer.body, bytes)
    assert text in answer.body
