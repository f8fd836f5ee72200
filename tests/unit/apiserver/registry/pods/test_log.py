"""The subresource log of pods: the text of annotations, and errors."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.kinds.core.v1 import Pod

PATH = "/api/v1/namespaces/default/pods/p/log"


async def serve_pod(**spec: object) -> ApiServer:
    """Return a server with a pod whose annotation holds a log."""
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
        ({"nodeName": "n"}, [("container", "a"), ("limitBytes", "5")], 200, b"one\nt"),
        (
            {"nodeName": "n"},
            [("container", "a"), ("tailLines", "-1")],
            422,
            b"tailLines: Invalid value: -1: must be gr",
        ),
        (
            {"nodeName": "n"},
            [("container", "a"), ("limitBytes", "0")],
            422,
            b"limitBytes: Invalid value: 0: must be gr",
        ),
        ({"nodeName": "n"}, [("sinceSeconds", "0")], 422, b"sinceSeconds: Invalid value: 0: must be greater than 0"),
        ({"nodeName": "n"}, [("sinceSeconds", "1"), ("sinceTime", "t")], 422, b"at most one of `sinceTime` or"),
        ({"nodeName": "n"}, [], 400, b"a container name must be specified for pod p, choose one of: [a b]"),
        ({"nodeName": "n"}, [("container", "c")], 400, b"container c is not valid for pod p"),
        ({}, [("container", "a")], 400, b"pod p does not have a host assigned"),
    ],
)
async def test_the_log_is_the_text_of_an_annotation(
    spec: dict[str, str], query: list[tuple[str, str]], code: int, text: bytes
) -> None:
    """The response has the lines of one container; no node and unknown containers are errors."""
    answer = await (await serve_pod(**spec)).handle("GET", PATH, query, {}, b"")
    assert answer.status == code
    assert isinstance(answer.body, bytes)
    assert text in answer.body
