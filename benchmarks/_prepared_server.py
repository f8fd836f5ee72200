"""An API server for benchmarks: all responses are in memory before the first request, so that it costs almost nothing.

It runs in its own process and serves pods: as pages, as a streamed list that then ends, and as watch events that
change every pod once. It prints its port, and ends when its input does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import uuid
from collections.abc import Iterable, Sized
from random import Random
from urllib.parse import parse_qsl, urlsplit

import msgspec

PAGE = 500
FIRST_VERSION = 1_000_000


def pod(number: int, size: int, version: int, random: Random) -> bytes:
    """Make a pod as kube-apiserver writes it, padded to a size."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{number // 3:06}", "controller": True}
    owner |= {"uid": str(uuid.UUID(int=random.getrandbits(128))), "blockOwnerDeletion": True}
    fields: dict[str, dict[str, object]] = {
        "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}, "f:pod-template-hash": {}}},
        "f:spec": {'k:{"name":"main"}': {f"f:{name}": {} for name in ("image", "name", "env", "resources", "ports")}},
    }
    metadata = {
        "name": f"web-{number // 3:06}-{number:06}",
        "generateName": f"web-{number // 3:06}-",
        "namespace": f"team-{number % 50}",
        "uid": str(uuid.UUID(int=random.getrandbits(128))),
        "resourceVersion": str(version),
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "web", "pod-template-hash": "7d9c6b5f4"},
        "annotations": {"example.com/checksum": "4f2a" * 16},
        "ownerReferences": [owner],
        "managedFields": [
            {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
             "fieldsType": "FieldsV1", "fieldsV1": fields}
            for manager in ("kube-controller-manager", "kubelet")
        ],
    }  # fmt: skip
    container: dict[str, object] = {
        "name": "main",
        "image": "registry.example.com/web:1.36",
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "imagePullPolicy": "IfNotPresent",
    }
    status = {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "podIP": "10.0.0.1",
        "startTime": "2026-01-01T00:00:00Z",
    }
    spec = {"containers": [container], "nodeName": f"node-{number % 100}", "serviceAccountName": "default"}
    document = {"metadata": metadata, "spec": spec, "status": status}
    container["env"] = env = list[dict[str, str]]()
    missing = size - len(encoded(document))
    while missing > 0:
        setting = {"name": f"SETTING_{len(env)}", "value": "some value"[:missing]}
        missing -= added(setting, env)
        env.append(setting)
    return encoded(document)


def added(item: object, to: Sized) -> int:
    """Return how many bytes one more item adds to a list or mapping, with its comma.

    Encoding the whole list again for each item would take a quarter of an hour for a gigabyte.
    """
    return len(msgspec.json.encode(item)) + bool(to)


def encoded(document: object) -> bytes:
    """Encode without spaces, as Go does."""
    return json.dumps(document, separators=(",", ":")).encode()


class Answers:
    """All responses, as bytes of HTTP."""

    def __init__(self, objects: int, size: int) -> None:
        random = Random(1)
        self.end = FIRST_VERSION + 2 * objects
        pods = [pod(n, size, FIRST_VERSION + n, random) for n in range(objects)]
        version = b'"resourceVersion":"%d"'
        changed = [
            data.replace(version % (FIRST_VERSION + n), version % (FIRST_VERSION + objects + n))
            for n, data in enumerate(pods)
        ]
        self.object_bytes = sum(map(len, pods))
        self.pages = [self._page(pods, start) for start in range(0, objects, PAGE)]
        listed = self._bookmark(FIRST_VERSION + objects - 1, b',"annotations":{"k8s.io/initial-events-end":"true"}')
        self.stream = b"".join((*_chunks(_lines(b"ADDED", pods)), listed))
        self.events = b"".join((*_chunks(_lines(b"MODIFIED", changed)), self._bookmark(self.end)))

    def _page(self, pods: list[bytes], start: int) -> bytes:
        end = start + PAGE
        more = b',"continue":"%d"' % end if end < len(pods) else b""
        metadata = b'{"resourceVersion":"%d"%s}' % (FIRST_VERSION + len(pods) - 1, more)
        items = b",".join(pods[start:end])
        return whole(b'{"kind":"PodList","apiVersion":"v1","metadata":%s,"items":[%s]}' % (metadata, items))

    @staticmethod
    def _bookmark(version: int, more: bytes = b"") -> bytes:
        pod = b'{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d"%s}}' % (version, more)
        return next(iter(_chunks([b'{"type":"BOOKMARK","object":%s}\n' % pod])))

    def answer(self, target: str) -> bytes:
        """Return the response to a request. The first part of its path selects the form of lists: /pages or /stream."""
        parts = urlsplit(target)
        _, way, path = parts.path.split("/", 2)
        query = dict(parse_qsl(parts.query))
        if path == "api":
            return whole(encoded({"kind": "APIVersions", "versions": ["v1"]}))
        if path == "apis":
            return whole(encoded({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}))
        if path == "api/v1":
            pods = {
                "name": "pods",
                "singularName": "pod",
                "namespaced": True,
                "kind": "Pod",
                "verbs": ["list", "watch"],
            }
            return whole(encoded({"kind": "APIResourceList", "groupVersion": "v1", "resources": [pods]}))
        if "watch" not in query:
            return self.pages[int(query.get("continue", "0")) // PAGE]
        if "sendInitialEvents" not in query:
            return STREAM_HEAD + self.events
        if way == "pages":
            return whole(b'{"kind":"Status","code":422,"reason":"Invalid"}', "422 Unprocessable Entity")
        return STREAM_HEAD + self.stream + STREAM_END


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM_END = b"0\r\n\r\n"


def whole(body: bytes, status: str = "200 OK") -> bytes:
    """Return an HTTP response with a length."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _lines(kind: bytes, pods: Iterable[bytes]) -> Iterable[bytes]:
    """Write watch events; unlike in lists, each object has its kind."""
    for data in pods:
        yield b'{"type":"%s","object":{"kind":"Pod","apiVersion":"v1",%s}\n' % (kind, data[1:])


def _chunks(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Frame as Go's server does: each event is one HTTP chunk."""
    for line in lines:
        yield b"%x\r\n%s\r\n" % (len(line), line)


async def serve(answers: Answers) -> None:
    """Serve until the input ends."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                answer = memoryview(answers.answer(request.split(b" ", 2)[1].decode()))
                for start in range(0, len(answer), 1 << 20):
                    writer.write(answer[start : start + (1 << 20)])
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        described = {"port": server.sockets[0].getsockname()[1], "bytes": answers.object_bytes, "end": answers.end}
        print(json.dumps(described), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Run until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--size", type=int, default=4000)
    options = parser.parse_args()
    asyncio.run(serve(Answers(options.objects, options.size)))


if __name__ == "__main__":
    main()
