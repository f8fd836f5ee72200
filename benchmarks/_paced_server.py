"""An API server with converged PodSets, which change at a fixed rate.

It replaces the embedded server for measurements of latency: an event is one line with the monotonic time at which it is
passed to the kernel, so that the operator causes the rest of the latency. It runs in its own process with a thread per
connection, takes ``{"do": "write", "rate": 100, "seconds": 10}`` on its input, and answers when all is written.
It answers ``{"do": "take"}`` with the clients' requests since the last time, by verb and resource.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from collections import Counter
from functools import lru_cache

from _canned_answers import HEAD, chunk, status, whole
from _canned_server import ALLOWED, Connection, Request
from _prepared_server import encoded

STAMP = "benchmarks/written"
GROUP, NAME = "apps.jicki.cn", "podset-{:06}"
SERVED = {  # by path of the group and version: plural, kind
    f"/apis/{GROUP}/v1alpha1": ("podsets", "PodSet"),
    "/apis/apps/v1": ("deployments", "Deployment"),
    "/api/v1": ("pods", "Pod"),
}
RESOURCES = frozenset(plural for plural, _ in SERVED.values())
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
FIRST = 1_000  # the resource version of every list


def _metadata(number: int, **more: object) -> dict[str, object]:
    name = NAME.format(number)
    made = "2026-01-01T00:00:00Z"
    return {"name": name, "namespace": "default", "uid": f"u-{number}", "creationTimestamp": made, **more}


def _object(kind: str, number: int, version: int, annotations: dict[str, str]) -> dict[str, object]:
    labels = {"app": "podSet", "podSet_cr": NAME.format(number)}
    common: dict[str, object] = {"resourceVersion": str(version)}
    container = {"name": "podset", "image": "busybox", "command": ["sleep", "3600"]}
    if kind == "PodSet":
        meta = _metadata(number, annotations=annotations, **common)
        return {"metadata": meta, "spec": {"size": 1}, "status": {"nodes": [NAME.format(number)]}}
    if kind == "Pod":
        return {"metadata": _metadata(number, labels=labels, **common), "spec": {"containers": [container]}}
    owner = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "PodSet", "name": NAME.format(number), "uid": f"u-{number}"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": _metadata(number, ownerReferences=[{**owner, "controller": True}], **common), "spec": spec}


def _typed(path: str, kind: str, obj: dict[str, object]) -> dict[str, object]:
    return {"apiVersion": path.split("/", 2)[2], "kind": kind, **obj}


def _discovered(path: str) -> dict[str, object] | None:
    if path == "/version":
        return {"major": "1", "minor": "36", "gitVersion": "v1.36.0", "platform": "linux/amd64"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        groups = [_group(GROUP, "v1alpha1"), _group("apps", "v1")]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    if path not in SERVED:
        return None
    plural, kind = SERVED[path]
    resource = {"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": VERBS}
    version = path.split("/", 2)[2]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [resource]}


def _group(name: str, version: str) -> dict[str, object]:
    served = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [served], "preferredVersion": served}


class Asked:
    """Counts the requests of clients."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, request: Request) -> None:
        """Count a request. Watches are not counted: they stay open."""
        verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        words = request.path.strip("/").split("/")
        known = [word for word in words if word in RESOURCES or word.endswith("reviews")]
        if not request.is_watch:
            with self._lock:
                self._calls[f"{verbs.get(request.method, 'list')} {known[-1] if known else 'discovery'}"] += 1

    def take(self) -> dict[str, int]:
        """Return the counts since the last time."""
        with self._lock:
            taken, self._calls = self._calls, Counter()
        return dict(taken)


class Paced(Connection):
    """A connection of one client."""

    def __init__(self, sock: socket.socket, objects: int, watching: list[socket.socket], asked: Asked) -> None:
        self._socket, self._objects, self._watching, self._asked = sock, objects, watching, asked
        self._input = sock.makefile("rb")

    def _answer(self, request: Request) -> None:
        self._asked.note(request)
        path, _, plural = request.path.rpartition("/")
        if (document := _discovered(request.path)) is not None:
            self._socket.sendall(whole(document))
        elif request.method == "POST":
            self._socket.sendall(whole(ALLOWED, "201 Created"))
        elif SERVED.get(path, ("", ""))[0] != plural:
            refusal = status(404, "NotFound", "the server could not find the requested resource")
            self._socket.sendall(whole(refusal, "404 Not Found"))
        elif not request.is_watch:
            self._socket.sendall(_list(path, self._objects))
        elif request.query.get("sendInitialEvents") == "true":
            message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            self._socket.sendall(whole(status(422, "Invalid", message), "422 Unprocessable Entity"))
        else:
            self._socket.sendall(HEAD)
            if plural == "podsets":
                self._watching.append(self._socket)


@lru_cache
def _list(path: str, objects: int) -> bytes:
    kind = SERVED[path][1]
    items = [_typed(path, kind, _object(kind, number, FIRST, {})) for number in range(objects)]
    head = {"apiVersion": path.split("/", 2)[2], "kind": f"{kind}List"}
    return whole({**head, "metadata": {"resourceVersion": str(FIRST)}, "items": items})


class Writer:
    """Changes one PodSet after the other."""

    def __init__(self, objects: int, watching: list[socket.socket]) -> None:
        self._watching, self._version = watching, FIRST
        path = f"/apis/{GROUP}/v1alpha1"
        prepared = (
            encoded({"type": "MODIFIED", "object": _typed(path, "PodSet", _object("PodSet", number, 0, {STAMP: "@"}))})
            for number in range(objects)
        )
        self._events = [event.replace(b'"resourceVersion":"0"', b'"resourceVersion":"%d"') for event in prepared]
        self._events = [event.replace(b'"@"', b'"%d"') + b"\n" for event in self._events]

    def write(self, rate: float, seconds: float) -> dict[str, object]:
        """Write at this rate per second; return the achieved rate."""
        total, begun = int(rate * seconds), time.monotonic()
        for number in range(total):
            time.sleep(max(0.0, begun + number / rate - time.monotonic()))
            self._version += 1
            event = self._events[number % len(self._events)]
            sent = chunk(event % (time.monotonic_ns(), self._version))  # annotations come first, see _object
            for sock in self._watching:
                sock.sendall(sent)
        return {"reached": total / (time.monotonic() - begun)}


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=1_000)
    objects = parser.parse_args().objects
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    watching: list[socket.socket] = []
    writer, asked = Writer(objects, watching), Asked()
    for path in SERVED:  # built now, so that no client waits
        _list(path, objects)

    def accept() -> None:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=Paced(sock, objects, watching, asked).run, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        answer = asked.take() if told["do"] == "take" else writer.write(told["rate"], told["seconds"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
