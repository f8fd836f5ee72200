"""Runner of `pyctrl apiserver`: signals, addresses, and errors at start."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.apiserver._served import ALONE, TOKENS
from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS)
    return file


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end the server with exit code 0 and no output, even while a client watches."""
    with apiserver(*ALONE) as served:
        port = int(served.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as watcher:
            watcher.sendall(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert watcher.recv(8).startswith(b"HTTP/1.1")
            ended = served.stop(number)
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_serving_alone_imports_no_controllers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API server alone starts without what only controllers, clients or programs need."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # each import is a line of stderr
    with apiserver(*ALONE) as served:
        ended = served.stop()
    imported = {line.rpartition("|")[2].strip() for line in ended.err.splitlines()}
    assert "pyctrl.apiserver" in imported
    slow = ("aiohttp", "kubernetes_asyncio", "pyctrl.cluster", "pyctrl.controller", "pyctrl.manager", "pyctrl.program")
    assert imported.isdisjoint(slow)


def test_a_port_that_is_taken(run: Run) -> None:
    """The error is one line: the port is in use, and --port 0 picks a free one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = run("apiserver", *ALONE, "--port", str(port))
        kubelet = run("apiserver", *ALONE, "--port", "0", "--kubelet-port", str(port))
    assert (told.code, told.out) == (1, "")
    assert told.err == f"pyctrl: 127.0.0.1 port {port} is in use by another program; --port 0 picks a free one\n"
    assert (kubelet.code, kubelet.err) == (1, told.err.replace("--port", "--kubelet-port"))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--apply", "no-such-file"], "no-such-file: No such file or directory"),
        (["--token-auth-file", "no-such-file"], "--token-auth-file no-such-file: No such file or directory"),
        (["--audit", "a", "--audit-policy-file", "no/such"], "--audit-policy-file no/such: No such file or directory"),
        (
            ["--audit", "a", "--audit-policy-file", "/dev/null"],
            "--audit-policy-file /dev/null: failed decoding: expected an object of kind Policy",
        ),
        (
            ["--admission-control-config-file", "no/such"],
            "--admission-control-config-file: no/such: No such file or directory",
        ),
        (
            ["--admission-control-config-file", "/dev/null"],
            "--admission-control-config-file /dev/null: expected an object of kind AdmissionConfiguration",
        ),
        (
            ["--enable-admission-plugins", "EventRateLimit"],
            'couldn\'t init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty',
        ),
        (["--audit", "no/such/file"], "--audit no/such/file: No such file or directory"),
        (["--write-kubeconfig", "/"], "--write-kubeconfig /: Is a directory"),
        (["--bind-address", "192.0.2.1"], "cannot listen on 192.0.2.1 port 0"),
    ],
)
def test_what_cannot_be_served_is_one_line(run: Run, flags: list[str], message: str) -> None:
    """The error for a missing file names the flag."""
    told = run("apiserver", *ALONE, *flags)
    errors = [line for line in told.err.splitlines() if not line.startswith("warning: ")]
    assert (told.code, told.out, len(errors)) == (1, "", 1)
    assert message in told.err


OPEN, CLEAR = "every client is an administrator", "tokens and Secrets are sent unencrypted"


@pytest.mark.parametrize(
    ("flags", "risks"),
    [
        (["--bind-address", "0.0.0.0", "--insecure-http"], f"{OPEN}, and {CLEAR}"),
        (["--bind-address", "0.0.0.0"], OPEN),
        (["--bind-address", "::", "--authorization-mode", "RBAC", "--insecure-http"], CLEAR),
        (["--bind-address", "0.0.0.0", "--authorization-mode", "RBAC"], ""),
        (["--insecure-http"], ""),
        (["--bind-address", "localhost", "--insecure-http"], ""),
    ],
)
def test_an_address_that_others_reach_is_warned_of(run: Run, flags: list[str], risks: str) -> None:
    """Before the server is ready, a warning on stderr describes the risks."""
    told = run("apiserver", *flags, "--audit", "no/such/file")  # which ends the server
    warnings = [line for line in told.err.splitlines() if line.startswith("warning: ")]
    cure = "use a loopback address, or --token-auth-file without --insecure-http"
    address = flags[1] if "--bind-address" in flags else ""
    assert warnings == ([f"warning: --bind-address {address}: {risks}; {cure}"] if risks else [])


def test_without_cryptography_the_way_out_is_told() -> None:
    """Without cryptography, the error names the package to install, and the alternative."""
    code = "import sys; sys.modules['cryptography'] = None; from pyctrl.cli import main; sys.exit(main(['apiserver']))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
    assert "pip install 'pyctrl-runtime[apiserver]'" in ran.stderr
    assert "--insecure-http" in ran.stderr
