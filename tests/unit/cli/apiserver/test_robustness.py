"""Misbehaving clients: the server answers or disconnects them, keeps serving, and releases their memory."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from tests.unit.cli._command import Served, apiserver

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
MEGABYTE = 1 << 20
SLACK = 40 * MEGABYTE  # memory that an allocator keeps
PATIENCE = 50  # requests

pytestmark = [pytest.mark.slow("starts a process and sends it a lot"), pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with apiserver("--insecure-http", "--no-controllers", "--no-kubelet") as server:
        yield server


def memory(served: Served) -> int:
    """Return the resident memory of the server's process."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(served.process.pid)], capture_output=True, text=True, check=True
    )
    return int(told.stdout) * 1024


def connect(served: Served) -> socket.socket:
    parts = urlsplit(served.url)
    assert parts.port is not None
    return socket.create_connection(("127.0.0.1", parts.port), timeout=30)


def send(served: Served, body: bytes, media: str = "application/json") -> int:
    """Send a body; return the status code of the response."""
    head = (
        f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with connect(served) as client:
        with suppress(BrokenPipeError, ConnectionResetError):  # the server has already refused the body
            client.sendall(head.encode() + body)
        return int(client.recv(64).split(b" ")[1])


def lives(served: Served) -> bool:
    with connect(served) as client:
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return client.recv(64).startswith(b"HTTP/1.1 200")


BOMB = "\n".join(
    ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("body", "media", "codes"),
    [
        (b'{"metadata":{"name":"\xff\xfe"}}', "application/json", {400}),
        (b'{"metadata":{"name":"deep"},"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001, "application/json", {400}),
        (b"[" * 100_000 + b"]" * 100_000, "application/json", {400}),
        (b"\x00" * 1000, "application/json", {400}),
        (BOMB, "application/yaml", {400}),
        (b"[" * 10_000 + b"]" * 10_000, "application/yaml", {400}),
        (b"k8s\x00" + b"\xff" * 1000, "application/vnd.kubernetes.protobuf", {400}),
    ],
    ids=["not UTF-8", "nested objects", "nested lists", "zeros", "a YAML bomb", "a YAML abyss", "rubbish protobuf"],
)
def test_bodies_that_are_no_objects(served: Served, body: bytes, media: str, codes: set[int]) -> None:
    """Invalid bodies are client errors, and the server keeps serving."""
    assert send(served, body, media) in codes
    assert lives(served)


def returns(served: Served, before: int) -> bool:
    """Return whether memory falls to its former value within a few requests."""
    return any(lives(served) and memory(served) - before < SLACK for _ in range(PATIENCE))


def test_a_hundred_megabytes(served: Served) -> None:
    """A body over the limit is refused and not kept in memory."""
    before = memory(served)
    for _ in range(3):
        assert send(served, bytes(100 * MEGABYTE)) == 413
    assert lives(served)
    assert returns(served, before)


def test_half_a_body_from_many(served: Served) -> None:
    """Clients that disconnect within a body leave no memory in use."""
    before = memory(served)
    head = f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 * MEGABYTE}\r\n\r\n".encode()
    for _ in range(100):
        with connect(served) as client:
            client.sendall(head + bytes(MEGABYTE))
    assert lives(served)
    assert returns(served, before)


def test_a_thousand_connections(served: Served) -> None:
    """A thousand watching or idle clients are served at once, and their memory is released when they disconnect."""
    before = memory(served)
    for _ in range(2):
        with ExitStack() as stack:
            clients = [stack.enter_context(connect(served)) for _ in range(1000)]
            for client in clients[::2]:
                client.sendall(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert all(client.recv(64).startswith(b"HTTP/1.1 200") for client in clients[::2])
            assert lives(served)
    assert lives(served)
    assert returns(served, before)


def test_watchers_that_do_not_read(served: Served) -> None:
    """Watch events that clients do not read are shared: fifty such watchers use the memory of one."""
    with ExitStack() as stack:
        for _ in range(50):
            client = stack.enter_context(connect(served))
            client.sendall(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        before = memory(served)
        for number in range(40):
            body = {"metadata": {"name": f"large-{number}"}, "data": {"blob": "x" * 500_000}}
            assert send(served, json.dumps(body).encode()) == 201
        grown = memory(served) - before
    for number in range(40):
        assert served.ask("DELETE", f"{CONFIGMAPS}/large-{number}")[0] == 200
    assert grown < 500 * MEGABYTE  # 50 watchers of 20 MB each would be a gigabyte
    assert lives(served)
