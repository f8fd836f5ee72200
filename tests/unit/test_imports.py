"""Modules that importing pyctrl does not import, because only some programs or only connections use them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LATER = {
    "textual",
    "aiohttp",
    "yaml",
    "prometheus_client",
    "opentelemetry",
    "kubernetes_asyncio",
    "cryptography",
    "pyctrl._log.options",
    "pyctrl.api._markers",
    "pyctrl.api._openapi_conversion",
    "pyctrl.api._status",
    "pyctrl.cache._metrics",
    "pyctrl.cache._statistics",
    "pyctrl.client._expansions",
    "pyctrl.client._kubernetes_asyncio",
    "pyctrl.client._events.writer",
    "pyctrl.client._login.impersonation",
    "pyctrl.client._wait",
    "pyctrl.client._wrappers",
    "pyctrl.controller._metrics",
    "pyctrl.controller._finalizers",
    "pyctrl.controller._statistics",
    "pyctrl.manager._election.leader_elector",
    "pyctrl.manager._election.options",
    "pyctrl.manager._servers.metrics",
    "pyctrl.manager._runnables.restart",
    "pyctrl.manager._permissions.permission_watcher",
    "pyctrl.kinds.core.v1",
    "pyctrl.webhook",
    "pyctrl.apiserver",
}

#: Modules that `pyctrl run` does not import unless a program needs them: webhooks, CRD installation, suggestions.
NEVER = {
    "textual",
    "aiohttp.web",
    "argparse",
    "difflib",
    "rich",
    "cryptography",
    "kubernetes_asyncio",
    "multiprocessing",
    "pyctrl.api._openapi_conversion",
    "pyctrl.apiserver",
    "pyctrl.client._kubernetes_asyncio",
    "pyctrl.manifests",
    "pyctrl.program._definitions",
    "pyctrl.webhook",
}


def test_an_operators_imports_leave_out_what_it_may_not_use() -> None:
    """The imports of an operator leave out these modules, each of which costs milliseconds at every start."""
    code = "import sys; from pyctrl import Builder, Manager, Reconciler; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not LATER & set(run.stdout.split())


@pytest.mark.slow("starts Python, and a server in it")
def test_an_api_server_starts_without_what_few_servers_need() -> None:
    """An API server, until it serves over HTTP, does not import modules that are slow and that few servers need."""
    code = """
import asyncio, sys
from pyctrl.apiserver import ApiServer, serve

async def run():
    async with serve(ApiServer()):
        print(*sys.modules)

asyncio.run(run())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(run.stdout.split())
    assert "pyctrl.apiserver" in imported
    assert not {"importlib.resources", "pydantic", "pyctrl.cel", "sqlite3", "tempfile", "yaml", "zoneinfo"} & imported


@pytest.mark.slow("starts Python, which imports everything that the command line needs")
@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "import pyctrl"),
        ("-m", "pyctrl", "--help"),
        ("-m", "pyctrl", "run", "examples.podset.podset:add_podset", "--help"),
    ],
    ids=["import", "help", "run"],
)
def test_kubernetes_asyncio_is_imported_only_when_it_is_used(arguments: tuple[str, ...]) -> None:
    """Programs that do not use kubernetes_asyncio never import it, although it is installed with pyctrl."""
    command = [sys.executable, "-X", "importtime", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}
    assert "pyctrl" in imported
    assert not {name for name in imported if "kubernetes_asyncio" in name or name == "pyctrl.api._openapi_conversion"}


def test_only_values_for_users_are_dataclasses() -> None:
    """Only values for users are dataclasses: each costs 0.4 ms at start, a struct 0.01 (docs/design/values.md)."""
    code = """
import sys, dataclasses
from pyctrl import Builder, Manager, Reconciler
from pyctrl.client import EventWriter
modules = {name: module for name, module in sys.modules.items() if name.startswith("pyctrl")}
public = {name for module in modules.values() if "._" not in module.__name__ for name in module.__all__}
for module in modules.values():
    for name, value in vars(module).items():
        if dataclasses.is_dataclass(value) and value.__module__ == module.__name__ and name not in public:
            print(f"{module.__name__}.{name}")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) <= {"pyctrl.api._lazy_decoding._Shape"}


def test_a_program_that_runs_does_without_what_it_does_not_use() -> None:
    """A running program does not import modules that it does not use: they would stay in memory."""
    code = """
import sys
from pyctrl.cli import _commands  # of cyclopts
from pyctrl.cli._run import command
from pyctrl.program import ProgramRunner
from pyctrl.client._transport.aiohttp import AiohttpTransport
from aiohttp.web_server import Server  # for probes and metrics
from pyctrl.program import ProgramManager
from examples.podset.podset import add_podset
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not NEVER & set(run.stdout.split())


@pytest.mark.parametrize("login", ["from_flags(master='https://example.com')", "load()", "in_cluster()"])
def test_a_pod_logs_in_without_reading_yaml(login: str, tmp_path: Path) -> None:
    """A login in a pod does not import the YAML parser, which costs 13 ms and 0.8 MB."""
    (tmp_path / "token").write_text("t", encoding="utf-8")
    code = f"""
import sys
from pathlib import Path
from pyctrl import Config
from pyctrl.client._login import in_cluster
in_cluster.SERVICE_ACCOUNT = Path({str(tmp_path)!r})
Config.{login}
print(*sys.modules)
"""
    pod = {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=pod)
    assert not {"yaml", "pyctrl.client._login.kubeconfig_context", "pyctrl.client._login.exec"} & set(
        run.stdout.split()
    )


def test_kinds_come_with_what_they_need_only() -> None:
    """Importing a built-in kind creates only the classes that it needs; each costs 0.3 ms and 12 KB."""
    code = "import sys; from pyctrl.kinds.core.v1 import ConfigMap; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name for name in run.stdout.split() if name.startswith("pyctrl.kinds.core.v1.")}
    assert found == {"pyctrl.kinds.core.v1._plain", "pyctrl.kinds.core.v1._references"}
