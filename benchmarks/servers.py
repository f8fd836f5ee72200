"""Cost of clients that never finish for a manager's own servers: memory, time until disconnection, log lines.

The manager runs in a child process, with webhooks and metrics over TLS and health over HTTP. This process attacks it:

    python benchmarks/servers.py                  # idle TLS connections, half requests, unfinished bodies
    python benchmarks/servers.py descriptors      # 400 connections where 256 descriptors are allowed
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import resource
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HALF_A_HEAD = b"POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Le"
BODY_BYTES = 7 * 1024 * 1024
DESCRIPTORS = 256
LONGEST_SECONDS = 130.0  # for the server to close a connection


@dataclass(frozen=True)
class Served:
    """A manager that runs in another process."""

    pid: int
    health: int
    metrics: int
    webhooks: int
    log: Path

    def resident(self) -> float:
        """Return the memory of the process, in MB."""
        return self._status("VmRSS")

    def peak(self) -> float:
        """Return its peak memory, in MB."""
        return self._status("VmHWM")

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024 / 1e6

    def is_healthy(self) -> bool:
        """Request ``/healthz`` as kubelet does: a new connection, with a timeout of one second."""
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.health}/healthz", timeout=1) as answer:
            return bool(answer.status == 200)
        return False


@contextmanager
def serving(*, descriptors: int | None = None) -> Iterator[Served]:
    """Run a manager in a child process until the block ends."""
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        log = directory / "log"
        with log.open("wb") as told:
            command = [
                sys.executable,
                __file__,
                "--serve",
                str(directory),
                *([str(descriptors)] if descriptors else []),
            ]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told)
        assert child.stdout is not None
        try:
            yield Served(pid=child.pid, log=log, **json.loads(child.stdout.readline()))
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def connect(port: int, *, tls: bool = True, patience: float = 20.0) -> socket.socket:
    """Open a connection, with TLS but without verification."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=patience)
    if not tls:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain)


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not closed a connection."""
    connection.setblocking(False)
    try:
        return connection.recv(65536) != b""
    except (ssl.SSLWantReadError, BlockingIOError):
        return True
    except OSError:
        return False


def seconds_until_cut(connection: socket.socket) -> float:
    """Return the seconds until the server closes a connection, or inf."""
    begun = time.monotonic()
    while (now := time.monotonic()) - begun < LONGEST_SECONDS:
        select.select([connection], [], [], 1.0)
        if not is_open(connection):
            return now - begun
    return float("inf")


def idle_connections() -> None:
    """Open connections over TLS and send nothing."""
    for count, server in ((1000, "webhooks"), (1000, "metrics"), (3000, "webhooks"), (3000, "metrics")):
        with serving() as served:
            connect(served.webhooks).close()
            before = served.resident()
            connections = []
            for _ in range(count):
                with suppress(OSError):
                    connections.append(connect(getattr(served, server)))
            grown, left = served.resident() - before, sum(is_open(each) for each in connections)
            per = f"{grown * 1000 / left:.0f} kB each" if left else "none is open"
            print(f"{server}: {count} idle TLS connections, {left} stay open: {grown:.0f} MB more, {per};", end=" ")
            print(f"healthy: {served.is_healthy()}", flush=True)
            for each in connections:
                each.close()


def unfinished() -> None:
    """Wait until the server closes unfinished requests."""
    with serving() as served:
        silent, half, kept = (connect(served.webhooks) for _ in range(3))
        no_tls = connect(served.webhooks, tls=False)
        half.sendall(HALF_A_HEAD)
        kept.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        kept.recv(65536)
        body = connect(served.webhooks)
        body.sendall(b"POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        begun = time.monotonic()
        names = {"no handshake": no_tls, "silent": silent, "half a head": half, "half a body": body, "kept": kept}
        while names and time.monotonic() - begun < LONGEST_SECONDS:
            select.select([], [], [], 0.5)
            for name in [name for name, each in names.items() if not is_open(each)]:
                print(f"{name}: cut after {time.monotonic() - begun:.0f} s", flush=True)
                del names[name]
        for name in names:
            print(f"{name}: not cut in {LONGEST_SECONDS:.0f} s")


def unfinished_bodies(count: int = 40) -> None:
    """Send nearly all of several bodies of the largest size."""
    head = f"POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY_BYTES}\r\n\r\n".encode()
    with serving() as served:
        connect(served.webhooks).close()
        before = served.resident()
        connections = []
        for _ in range(count):
            with suppress(OSError):
                connections.append(connection := connect(served.webhooks, patience=2.0))
                connection.sendall(head + b"{" * (BODY_BYTES - 1000))
        print(f"{count} unfinished bodies of {BODY_BYTES} bytes: {served.resident() - before:.0f} MB more", end=", ")
        print(f"{served.peak() - before:.0f} at the peak; healthy: {served.is_healthy()}", flush=True)


def descriptors(count: int = 400, seconds: float = 20.0) -> None:
    """Open more connections than there are descriptors, and probe once a second."""
    with serving(descriptors=DESCRIPTORS) as served:
        healthy = served.is_healthy()
        connections = []
        for _ in range(count):
            with suppress(OSError):
                connections.append(connect(served.metrics, tls=False, patience=1.0))
        answers, begun = 0, time.monotonic()
        probes = 0
        while time.monotonic() - begun < seconds:
            probes += 1
            answers += served.is_healthy()
            select.select([], [], [], 1.0)
        lines = served.log.read_bytes().count(b"\n")
        print(f"{count} connections, {DESCRIPTORS} descriptors, {seconds:.0f} s: {lines} lines of log,", end=" ")
        print(f"{answers} of {probes} probes answered (before: {healthy})", flush=True)


async def serve(directory: Path) -> None:
    """Run the manager, and print its ports when they are open."""
    from pyctrl.apiserver import ApiServer, CertificateAuthority
    from pyctrl.client import Config
    from pyctrl.manager import Manager
    from pyctrl.webhook import Webhooks, WebhookServer

    logging.basicConfig(level=logging.INFO)
    issued = CertificateAuthority.new("benchmark").server()
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)
    webhooks = WebhookServer(Webhooks(), certificates=directory, host="127.0.0.1", port=0)
    manager = Manager(
        Config.in_process(ApiServer()),
        health_bind_address="127.0.0.1:0",
        metrics_bind_address="127.0.0.1:0",
        metrics_certificates=directory,
    )
    async with manager:
        manager.add(webhooks)
        async with manager.running():
            assert manager.health_server is not None
            assert manager.metrics is not None
            ports = {"health": manager.health_server.port, "metrics": manager.metrics.server.port}
            print(json.dumps({**ports, "webhooks": webhooks.port}), flush=True)
            await asyncio.Event().wait()


def main() -> None:
    """Read the arguments and measure."""
    measured: dict[str, Callable[[], None]] = {
        "idle": idle_connections,
        "unfinished": unfinished,
        "bodies": unfinished_bodies,
        "descriptors": descriptors,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=f"{', '.join(measured)}; all of them by default")
    parser.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)  # work of the child process
    given = parser.parse_args()
    if given.serve is None:
        for name in given.what or measured:
            measured[name]()
        return
    directory, *limit = given.serve
    if limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(limit[0]), int(limit[0])))
    asyncio.run(serve(Path(directory)))


if __name__ == "__main__":
    main()
