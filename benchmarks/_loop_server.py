"""Servers for whole operators, each in its own process, with counters of requests.

One is the embedded API server with the controllers of a cluster, whose audit log counts requests; the other has
converged objects and writes events at a fixed rate.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from _child import Child

ROOT = Path(__file__).parent.parent
DEFINITIONS = ROOT / "examples" / "podset" / "config" / "crd" / "bases"
DRIVER = "benchmark-driver"  # the user agent of the driver
READS = frozenset({"get", "list", "watch"})


class Calls:
    """Counts requests that do not come from the driver, by verb and resource, from the audit log."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = 0
        self._rest = b""

    def take(self) -> Counter[str]:
        """Return the requests since the last call. A watch counts when it ends."""
        with self._log.open("rb") as file:
            file.seek(self._offset)
            read = file.read()
        self._offset += len(read)
        *lines, self._rest = (self._rest + read).split(b"\n")
        # The controllers of the cluster run in the server, without a user agent
        return Counter(
            _call(json.loads(line)) for line in lines if b'"userAgent"' in line and DRIVER.encode() not in line
        )


def _call(event: Mapping[str, dict[str, str]]) -> str:
    target = event.get("objectRef", {})
    resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
    return f"{event['verb']} {resource or 'discovery'}"


def writes(calls: Mapping[str, int]) -> int:
    """Return the number of write requests, without self reviews."""
    return sum(
        count
        for call, count in calls.items()
        if call.split()[0] not in READS and not call.endswith(("reviews", "discovery"))
    )


class Cluster:
    """A running server: its address, a kubeconfig for it, and its counters."""

    def __init__(self, url: str, directory: Path) -> None:
        self.url, self.kubeconfig = url, directory / "kubeconfig"
        self.calls = Calls(directory / "audit.log")


@contextmanager
def converging() -> Iterator[Cluster]:
    """Run the embedded server with the definition of PodSet and the controllers of a cluster; pods stay Pending."""
    with tempfile.TemporaryDirectory(prefix="pyctrl-loop-") as name:
        directory = Path(name)
        command = [sys.executable, "-m", "pyctrl", "apiserver", "--insecure-http", "--apply", str(DEFINITIONS)]
        command += ["--audit", str(directory / "audit.log"), "--write-kubeconfig", str(directory / "kubeconfig")]
        command += ["--no-kubelet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                yield Cluster(process.stdout.readline().removeprefix("ready ").strip(), directory)
            finally:
                process.kill()  # all its state is in memory


class PacedServer:
    """A running server with converged PodSets, and a kubeconfig for it."""

    def __init__(self, child: Child, directory: Path) -> None:
        self._child = child
        self.kubeconfig = directory / "kubeconfig"
        cluster = {"name": "paced", "cluster": {"server": child.answer()["url"]}}
        context = {"name": "paced", "context": {"cluster": "paced", "user": "paced"}}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "paced", "clusters": [cluster]}
        config |= {"contexts": [context], "users": [{"name": "paced", "user": {}}]}
        self.kubeconfig.write_text(json.dumps(config), encoding="utf-8")

    def write(self, rate: float, seconds: float) -> float:
        """Write events at this rate; return the achieved rate."""
        return float(self._child.ask("write", rate=rate, seconds=seconds)["reached"])

    def take(self) -> dict[str, int]:
        """Return the requests since the last call, by verb and resource."""
        return dict(self._child.ask("take"))


@contextmanager
def pacing(objects: int) -> Iterator[PacedServer]:
    """Run the server with this many converged PodSets."""
    command = [sys.executable, str(Path(__file__).parent / "_paced_server.py"), "--objects", str(objects)]
    with tempfile.TemporaryDirectory(prefix="pyctrl-loop-") as name, Child(command) as child:
        yield PacedServer(child, Path(name))
