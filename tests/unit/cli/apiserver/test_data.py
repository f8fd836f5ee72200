"""`pyctrl apiserver --data`: a cluster that is the same after a restart, however the server ended."""

from __future__ import annotations

import base64
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.unit.cli._command import Served, apiserver
from tests.unit.cli.apiserver._served import ALONE
from tests.unit.cli.conftest import Run

REPOSITORY = Path(__file__).parents[4]
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@contextmanager
def served(directory: Path, *flags: str | Path) -> Iterator[Served]:
    with apiserver(*ALONE, "--data", directory, *flags) as server:
        yield server


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_objects_survive_the_end_of_the_server(tmp_path: Path, number: signal.Signals) -> None:
    """What was acknowledged is there in the next run, after a stop and after a kill."""
    with served(tmp_path) as server:
        made = server.ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})[1]
        server.stop(number)
    with served(tmp_path, "--fsync") as server:
        assert server.ask("GET", f"{CONFIGMAPS}/a") == (200, made)


@pytest.mark.slow("starts processes")
def test_a_kubeconfig_of_an_earlier_run_works(tmp_path: Path) -> None:
    """At the same port, the kubeconfig of the first run works in the next: same CA, same token, also with RBAC."""
    kubeconfig, data = tmp_path / "kubeconfig", tmp_path / "data"
    flags = ("--data", data, "--authorization-mode", "RBAC", "--no-controllers", "--no-kubelet")
    with apiserver(*flags, "--write-kubeconfig", kubeconfig) as server:
        url = server.url
        server.stop(signal.SIGKILL)
    written = yaml.safe_load(kubeconfig.read_text())
    cluster, token = written["clusters"][0]["cluster"], written["users"][0]["user"]["token"]
    ca = tmp_path / "ca.crt"
    ca.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    with apiserver(*flags, "--port", url.rpartition(":")[2]) as server:
        assert cluster["server"] == server.url
        assert server.ask("GET", CONFIGMAPS, token=token, ca=ca)[0] == 200
        assert server.ask("GET", CONFIGMAPS, token="x" + token[1:], ca=ca)[0] == 401
        server.stop()
    authorities = {f"{name}.{kind}" for name in ("ca", "front-proxy-ca") for kind in ("crt", "key")}
    assert {each.name for each in data.iterdir()} == {*authorities, "state.db"}


@pytest.mark.slow("starts processes, and waits for pods")
def test_the_controllers_continue(tmp_path: Path) -> None:
    """A pod that ran keeps running after a restart, with its address, and a new one starts beside it."""

    def running(server: Served, name: str) -> dict[str, str]:
        query = f"watch=1&timeoutSeconds=30&fieldSelector=metadata.name={name}"
        with urllib.request.urlopen(f"{server.url}{PODS}?{query}", timeout=30) as watch:
            assert any(b'"phase":"Running"' in line for line in watch)
        status = server.ask("GET", f"{PODS}/{name}")[1]["status"]
        return {"phase": status["phase"], "ip": status["podIP"], "start": status["startTime"]}

    flags = ("--insecure-http", "--data", tmp_path, "--pod-start-seconds", "0.1")
    with apiserver(*flags) as server:
        server.ask("POST", PODS, POD)
        first = running(server, "a")
        server.stop(signal.SIGKILL)
    with apiserver(*flags) as server:
        server.ask("POST", PODS, {**POD, "metadata": {"name": "b"}})
        second = running(server, "b")
        assert running(server, "a") == first
    assert first["ip"] != second["ip"]


@pytest.mark.slow("starts a process")
def test_two_servers_on_one_directory(tmp_path: Path, run: Run) -> None:
    """The second server is refused with one line, and the first one continues."""
    with served(tmp_path) as server:
        told = run("apiserver", *ALONE, "--data", tmp_path)
        assert (told.code, told.out) == (1, "")
        assert (
            told.err
            == f"pyctrl: {tmp_path}/state.db: another server uses it; stop that one, or use another directory\n"
        )
        assert server.ask("GET", CONFIGMAPS)[0] == 200


def test_a_directory_that_cannot_be_used(tmp_path: Path, run: Run) -> None:
    """A file in the place of the directory, another program's file in it, and --fsync alone are errors of one line."""
    (tmp_path / "file").write_text("")
    (tmp_path / "state.db").write_text("mine" * 1000)
    told = run("apiserver", *ALONE, "--data", tmp_path / "file")
    assert (told.code, told.err) == (1, f"pyctrl: --data {tmp_path}/file: File exists\n")
    told = run("apiserver", *ALONE, "--data", tmp_path)
    assert (told.code, told.err) == (
        1,
        f"pyctrl: {tmp_path}/state.db: is not a database of pyctrl; use an empty directory\n",
    )
    told = run("apiserver", *ALONE, "--fsync")
    assert (told.code, told.err) == (1, "pyctrl: --fsync needs --data: without it nothing is written to a disk\n")


@pytest.mark.slow("starts thirty processes and kills them")
@pytest.mark.timeout(240)
def test_kills_at_random_points_lose_nothing(tmp_path: Path) -> None:
    """Killed 30 times while clients write, the server loses nothing acknowledged and repeats no version."""
    command = [sys.executable, str(REPOSITORY / "tools" / "kill_apiserver.py"), "--kills", "30"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=220)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "nothing was lost" in ran.stdout
