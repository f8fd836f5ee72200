"""`etcd` of `pyctrl envtest`: the health check that envtest waits for."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pyctrl.cli._envtest import etcd
from tests.unit.cli._command import PATIENCE
from tests.unit.cli.envtest._control_plane import (
    POLL_SECONDS,
    flags_of_envtest,
    free_port,
    listening,
    write_certificates,
)

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
        health: list[str | Path] = [assets / "etcd", f"--listen-client-urls=http://127.0.0.1:{port}"]
        write_certificates(assets)
        server: list[str | Path] = [assets / "kube-apiserver", *flags_of_envtest(assets, port)]
        for command in (health, server):
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ran.returncode == 1
            assert ran.stderr.endswith("address already in use\n")


def test_envtest_finds_no_flag_to_add_in_its_help(assets: Path) -> None:
    """The help is printed with exit code 0, which envtest needs before it starts etcd."""
    ran = subprocess.run([assets / "etcd", "--help"], capture_output=True, text=True, check=True)
    assert "--listen-client-urls" in ran.stdout


#: Starts a program as envtest does, the leader of a process group, prints its process id and waits for a signal.
PARENT = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
print(subprocess.Popen(sys.argv[1:], process_group=0).pid, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_it_ends_after_the_tests_that_started_it(assets: Path, name: str) -> None:
    """When the test process was killed and could not stop its control plane, that ends by itself."""
    port = free_port()
    write_certificates(assets)
    flags = [f"--listen-client-urls=http://127.0.0.1:{port}"] if name == "etcd" else flags_of_envtest(assets, port)
    command = [sys.executable, "-c", PARENT, str(assets / name), *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        started = int(parent.stdout.readline())
        try:
            while not _listens(port):
                select.select([], [], [], POLL_SECONDS)
            parent.kill()
            ended, _, _ = select.select([parent.stdout], [], [], PATIENCE)  # its end: both processes have ended
            assert ended
            assert not _listens(port)
        finally:
            parent.kill()
            with suppress(ProcessLookupError):
                os.killpg(started, signal.SIGKILL)


@pytest.mark.parametrize(
    ("started", "hangup", "is_watched"),
    [
        ({"process_group": 0}, "SIG_DFL", True),  # by envtest
        ({}, "SIG_DFL", False),  # as by a script, which may end before it
        ({"start_new_session": True}, "SIG_DFL", False),  # setsid
        ({"process_group": 0}, "SIG_IGN", False),  # nohup
    ],
)
def test_who_outlives_its_parent(started: dict[str, Any], hangup: str, is_watched: bool) -> None:
    """Only a program that was started as envtest does ends with its parent; daemons and those of scripts stay."""
    code = f"import runpy, signal; signal.signal(signal.SIGHUP, signal.{hangup}); "
    code += f"print(runpy.run_path({etcd.__file__!r})['watched_parent']())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **started)
    assert ran.stdout == f"{os.getpid() if is_watched else None}\n"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
