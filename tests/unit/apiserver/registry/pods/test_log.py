"""The subresource log of pods: its options and errors, most of them observed on kube-apiserver 1.36."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import ApiServer, KubeletError, PodLogOptions
from tests.unit.apiserver.registry.pods._kubelet import PODS, RefusingKubelet


class LogKubelet(RefusingKubelet):
    """A kubelet with one log, or with an error."""

    def __init__(self, error: KubeletError | None = None) -> None:
        super().__init__("no containers")
        self.options: list[PodLogOptions] = []
        self._refusal = error

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        self.options.append(options)
        if self._refusal is not None:
            raise self._refusal
        return self._lines(f"{namespace}/{pod}/{container}")

    async def _lines(self, first: str) -> AsyncGenerator[bytes, None]:
        yield first.encode() + b"\n"
        yield b"two\n"


def create(server: ApiServer, path: str, **body: Any) -> None:
    assert server.handle_nowait("POST", path, body=msgspec.json.encode(body)).status == 201


def serve_pod(kubelet: LogKubelet | None = None, *, containers: str = "a", **spec: Any) -> ApiServer:
    """Return a server with pod p and the nodes n, which has no address, and m."""
    server = ApiServer()
    create(server, "/api/v1/nodes", metadata={"name": "n"})
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
    create(server, "/api/v1/nodes", metadata={"name": "m"}, status={"addresses": addresses})
    spec["initContainers"] = [{"name": "init", "image": "i"}]
    spec["containers"] = [{"name": name, "image": "i"} for name in containers]
    create(server, PODS, metadata={"name": "p"}, spec=spec)
    if kubelet is not None:
        server.kubelets["m"] = kubelet
    return server


async def read(server: ApiServer, *query: tuple[str, str], pod: str = "p") -> tuple[int, str]:
    """Return the status of a response, and its text or the message of its Status."""
    answer = await server.handle("GET", f"{PODS}/{pod}/log", query, {}, b"")
    assert isinstance(answer.body, bytes)
    if answer.status < 300:
        return answer.status, answer.body.decode()
    return answer.status, msgspec.json.decode(answer.body)["message"]


async def test_the_kubelet_of_the_node_returns_the_log() -> None:
    """The response has what the kubelet returns for the only container."""
    assert await read(serve_pod(LogKubelet(), nodeName="m")) == (200, "default/p/a\ntwo\n")


async def test_a_followed_log_is_a_stream() -> None:
    """With `follow` the chunks are sent as the kubelet yields them."""
    answer = await serve_pod(LogKubelet(), nodeName="m").handle("GET", f"{PODS}/p/log", [("follow", "true")], {}, b"")
    assert not isinstance(answer.body, bytes)
    assert [chunk async for chunk in answer.body] == [b"default/p/a\n", b"two\n"]  # type: ignore[union-attr]


async def test_the_kubelet_gets_the_options() -> None:
    """Numbers, flags and the time reach the kubelet."""
    kubelet = LogKubelet()
    query = [("previous", "1"), ("timestamps", "true"), ("tailLines", "3"), ("limitBytes", "9")]
    await read(serve_pod(kubelet, nodeName="m"), *query, ("sinceTime", "2026-01-02T03:04:05Z"))
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert kubelet.options == [
        PodLogOptions(previous=True, timestamps=True, since=since, tail_lines=3, limit_bytes=9),
    ]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({"tailLines": "x"}, (400, 'strconv.ParseInt: parsing "x": invalid syntax')),
        ({"tailLines": ""}, (400, 'strconv.ParseInt: parsing "": invalid syntax')),
        ({"limitBytes": "9" * 20}, (400, f'strconv.ParseInt: parsing "{"9" * 20}": value out of range')),
        (
            {"sinceTime": "t"},
            (400, 'parsing time "t" as "2006-01-02T15:04:05Z07:00": cannot parse "t" as "2006"'),
        ),
        ({"tailLines": "-1"}, (422, "tailLines: Invalid value: -1: must be greater than or equal to 0")),
        ({"limitBytes": "0"}, (422, "limitBytes: Invalid value: 0: must be greater than 0")),
        ({"sinceSeconds": "0"}, (422, "sinceSeconds: Invalid value: 0: must be greater than 0")),
        (
            {"sinceSeconds": "1", "sinceTime": ""},
            (422, "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"),
        ),
        ({"stream": "All"}, (422, "stream: Forbidden: may not be specified")),
        ({"container": "z"}, (400, "container z is not valid for pod p")),
    ],
)
async def test_invalid_options_are_refused(query: dict[str, str], answer: tuple[int, str]) -> None:
    """An option of the wrong type is 400, an invalid value 422, an unknown container 400."""
    code, message = await read(serve_pod(LogKubelet(), nodeName="m"), *query.items())
    prefix = 'PodLogOptions "p" is invalid: ' if code == 422 else ""
    assert (code, message) == (answer[0], prefix + answer[1])


async def test_one_of_several_containers_must_be_named() -> None:
    """The message lists all containers; init containers count only there."""
    server = serve_pod(LogKubelet(), containers="ab", nodeName="m")
    assert await read(server) == (400, "a container name must be specified for pod p, choose one of: [init a b]")
    assert await read(server, ("container", "init")) == (200, "default/p/init\ntwo\n")


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({}, (204, "")),
        ({"nodeName": "none"}, (404, 'pods "none" not found')),
        ({"nodeName": "n"}, (500, "no preferred addresses found; known addresses: []")),
        (
            {"nodeName": "m"},
            (
                500,
                (
                    'Get "https://127.0.0.1:10250/containerLogs/default/p/a?limitBytes=5&timestamps=true": '
                    "dial tcp 127.0.0.1:10250: connect: connection refused"
                ),
            ),
        ),
    ],
)
async def test_a_node_without_a_kubelet(spec: dict[str, Any], answer: tuple[int, str]) -> None:
    """The error is that of a node that does not exist, has no address or does not answer; no node is 204."""
    assert await read(serve_pod(**spec), ("limitBytes", "5"), ("timestamps", "1")) == answer


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (KubeletError("no log"), (400, "no log")),
        (KubeletError("gone", code=404), (404, "the server could not find the requested resource ( pods/log p)")),
        (KubeletError("broken", code=500), (500, "Internal error occurred: broken")),
    ],
)
async def test_errors_of_the_kubelet(error: KubeletError, answer: tuple[int, str]) -> None:
    """The status code of the kubelet decides the error."""
    assert await read(serve_pod(LogKubelet(error), nodeName="m")) == answer
