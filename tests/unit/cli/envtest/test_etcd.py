"""`etcd` of `pyctrl envtest`: the health check that envtest waits for."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.envtest._control_plane import flags_of_envtest, free_port, listening, write_certificates

pytestmark = pytest.mark.slow("starts processes; each waits for its port")


def test_it_is_healthy(assets: Path) -> None:
    """It answers /health and /version at its client URL as etcd does; all of etcd's flags are accepted."""
    port = free_port()
    flags = [
        "--advertise-client-urls=http://127.0.0.1:1",
        "--data-dir",
        str(assets),
        f"--listen-client-urls=http://127.0.0.1:{port}",
        "--listen-peer-urls=http://127.0.0.1:0",
        "--unsafe-no-fsync=true",
    ]
    with listening(assets / "etcd", flags, port, "http") as served:
        assert served.ask("GET", "/health") == (200, {"health": "true", "reason": ""})
        code, version = served.ask("GET", "/version")
        assert (code, version["etcdcluster"]) == (200, "3.6.0")
        assert served.ask("GET", "/v2/keys") == (404, "404 page not found\n")


def test_a_client_that_sends_nothing_delays_others_by_a_second(assets: Path) -> None:
    """A connection without a request does not stop the answers to others."""
    port = free_port()
    flags = ["--listen-client-urls", f"http://127.0.0.1:{port}"]
    with listening(assets / "etcd", flags, port, "http") as served, socket.create_connection(("127.0.0.1", port)):
        assert served.ask("GET", "/health")[0] == 200


@pytest.mark.parametrize("url", ["https://127.0.0.1:2379", "127.0.0.1:2379", "http://127.0.0.1"])
def test_a_url_that_it_cannot_serve(assets: Path, url: str) -> None:
    """The error is one line with the URL."""
    ran = subprocess.run([assets / "etcd", f"--listen-client-urls={url}"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr == f"etcd: cannot listen: expected http://HOST:PORT, got '{url}'\n"


def test_a_port_that_is_taken(assets: Path) -> None:
    """The error has Go's words, which callers look for to try another port; kube-apiserver has them too."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        etcd: list[str | Path] = [assets / "etcd", f"--listen-client-urls=http://127.0.0.1:{port}"]
        write_certificates(assets)
        server: list[str | Path] = [assets / "kube-apiserver", *flags_of_envtest(assets, port)]
        for command in (etcd, server):
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ran.returncode == 1
            assert ran.stderr.endswith("address already in use\n")


def test_envtest_finds_no_flag_to_add_in_its_help(assets: Path) -> None:
    """The help is printed with exit code 0, which envtest needs before it starts etcd."""
    ran = subprocess.run([assets / "etcd", "--help"], capture_output=True, text=True, check=True)
    assert "--listen-client-urls" in ran.stdout
