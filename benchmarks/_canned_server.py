"""The API server for the cache benchmarks: all responses are in memory, so that the server is not measured.

It runs in its own process, with a thread per connection that only passes buffers to the kernel. It takes commands as
lines of JSON on its input, answers each with a line on its output, and ends with its input. Like kube-apiserver 1.36,
it returns the whole list at version 0 whatever the limit; compresses lists of more than 128 KB for clients that accept
it, but no watches; and sends each event in its own chunk.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from _canned_answers import HEAD, Answers, World, status, whole
from _canned_discovery import discovered
from _canned_objects import EMPTY, KINDS

SLAB = 500  # events per write without a rate

NOTHING = {f"{kind.path}/{kind.plural}": kind for kind in EMPTY}
ALLOWED = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": True}}


@dataclass
class Request:
    """A request of a client."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def accepts_gzip(self) -> bool:
        """Whether the client accepts compressed responses."""
        return "gzip" in self.headers.get("accept-encoding", "")

    @property
    def is_watch(self) -> bool:
        """Whether the request is a watch, in any form that Go accepts."""
        return self.query.get("watch", "").lower() in {"true", "1"}


class Timeline:
    """The state of the changes: the number of released changes and the ended watches."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.news = threading.Condition()
        self.era = threading.Event()  # set when watches of this version have ended
        self.reset("stream")

    def reset(self, lists: str) -> None:
        """Return to the initial state for the next client."""
        with self.news:
            self.lists, self.released, self.state, self.oldest = lists, 0, 0, 0
            self._end_era()

    def _end_era(self) -> None:
        over, self.era = self.era, threading.Event()
        over.set()
        self.news.notify_all()

    def release(self, rate: float | None) -> None:
        """Change every object once, at full speed or at this rate per second."""
        count = self.world.count
        if rate is None:
            self._release(count)
        else:
            threading.Thread(target=self._pace, args=(rate,), daemon=True).start()

    def _release(self, count: int) -> None:
        with self.news:
            self.released = count
            self.state = int(count == self.world.count)
            self.news.notify_all()

    def _pace(self, rate: float) -> None:
        begun = time.monotonic()
        for number in range(1, self.world.count + 1):
            time.sleep(max(0.0, begun + number / rate - time.monotonic()))
            self._release(number)

    def expire(self) -> int:
        """End every watch with 410 Expired, and reject watches from earlier versions.

        Lists have a later version afterwards. One more change follows; return its version.
        """
        with self.news:
            self.oldest = self.version + 1
            self._end_era()
        return self.oldest + 1

    @property
    def version(self) -> int:
        """The current version of lists."""
        return max(self.oldest, self.world.base + self.state * self.world.count)

    def changes_from(self, version: int, answers: Answers) -> Iterator[memoryview | bytes]:
        """Wait for the events after a version and yield them as chunks; the last one is an error event."""
        with self.news:
            era, oldest = self.era, self.oldest
        if version < oldest:
            yield answers.expired(version, oldest)
            return
        if oldest == version:
            yield answers.last_change(oldest + 1)
        done = min(max(0, version - answers.base), answers.count)
        while True:
            with self.news:
                while self.released <= done and not era.is_set():
                    self.news.wait()
                upto = self.released
            if era.is_set():
                yield answers.expired(version, self.oldest)
                return
            for start in range(done, upto, SLAB):
                yield answers.changes(start, min(start + SLAB, upto))
            done = upto


class Connection:
    """A connection of one client."""

    def __init__(self, sock: socket.socket, timeline: Timeline) -> None:
        self._socket, self._timeline = sock, timeline
        self._input = sock.makefile("rb")

    def run(self) -> None:
        """Answer requests until the client disconnects."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while request := self._next():
                self._answer(request)
        except OSError:
            pass  # a client that ends does not close its connection properly
        finally:
            self._socket.close()

    def _next(self) -> Request | None:
        line = self._input.readline().decode()
        if not line:
            return None
        method, target, _ = line.split(" ", 2)
        headers: dict[str, str] = {}
        while header := self._input.readline().decode().rstrip("\r\n"):
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip().lower()
        self._input.read(int(headers.get("content-length", "0")))
        parts = urlsplit(target)
        return Request(method, parts.path, dict(parse_qsl(parts.query)), headers)

    def _answer(self, request: Request) -> None:
        kind = self._timeline.world.kind
        if (document := discovered(request.path)) is not None:
            self._socket.sendall(whole(document))
        elif request.method == "POST" and request.path.startswith("/apis/authorization.k8s.io/"):
            self._socket.sendall(whole(ALLOWED, "201 Created"))
        elif request.path in NOTHING:
            self._say_nothing(request)
        elif request.path != f"{kind.path}/{kind.plural}":
            refusal = status(404, "NotFound", "the server could not find the requested resource")
            self._socket.sendall(whole(refusal, "404 Not Found"))
        elif request.is_watch:
            self._watch(request, self._timeline.world.answers(request.headers.get("accept", "")))
        else:
            self._list(request, self._timeline.world.answers(request.headers.get("accept", "")))

    def _say_nothing(self, request: Request) -> None:
        """Answer for a kind without objects: an empty list, and a watch without events."""
        if request.is_watch:
            self._socket.sendall(HEAD)
            self._timeline.era.wait()
        listed = NOTHING[request.path]
        names = {"kind": f"{listed.kind}List", "apiVersion": listed.api_version}
        self._socket.sendall(whole({**names, "metadata": {"resourceVersion": "1"}, "items": []}))

    def _list(self, request: Request, answers: Answers) -> None:
        query, timeline = request.query, self._timeline
        limit = None if query.get("resourceVersion") == "0" else int(query.get("limit", "0")) or None
        place = (timeline.state, timeline.version, int(query.get("continue", "0")), limit)
        self._socket.sendall(answers.page(*place, is_compressed=request.accepts_gzip))

    def _watch(self, request: Request, answers: Answers) -> None:
        timeline = self._timeline
        version = int(request.query.get("resourceVersion") or "0")
        wants_list = request.query.get("sendInitialEvents") == "true"
        if wants_list and timeline.lists != "stream":
            message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            self._socket.sendall(whole(status(422, "Invalid", message), "422 Unprocessable Entity"))
            return
        self._socket.sendall(answers.watch_head)
        if wants_list or not version:  # a watch without a version starts with all objects
            version = timeline.version
            self._socket.sendall(answers.initial(timeline.state))
        if wants_list:
            self._socket.sendall(answers.initial_end(version))
        for piece in timeline.changes_from(version, answers):
            self._socket.sendall(piece)


def obey(timeline: Timeline, command: Mapping[str, object]) -> dict[str, object]:
    """Execute the command in a line of the input."""
    match command["do"]:
        case "reset":
            timeline.reset(str(command["lists"]))
            return {}
        case "release":
            rate = command.get("rate")
            timeline.release(float(str(rate)) if rate else None)
            return {}
        case "last":
            return {"until": timeline.world.base + timeline.world.count}
        case "expire":
            return {"until": timeline.expire()}
        case other:
            return {"error": f"reset, last, release or expire, not {other}"}


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kind", choices=list(KINDS), default="widgets")
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=4096)
    options = parser.parse_args()
    world = World(KINDS[options.kind], options.objects, options.size)
    timeline = Timeline(world)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept() -> None:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=Connection(sock, timeline).run, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    told = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}", "bytes": world.object_bytes}
    print(json.dumps(told), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(timeline, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
