"""What importing pyctrl does not import: what only some programs use, or all only when they connect."""

from __future__ import annotations

import subprocess
import sys

LATER = {
    "aiohttp",
    "yaml",
    "prometheus_client",
    "opentelemetry",
    "kubernetes_asyncio",
    "cryptography",
    "pyctrl.api._marks",
    "pyctrl.client._actions",
    "pyctrl.client._event_writer",
    "pyctrl.manager._elector",
    "pyctrl.manager._leader_election",
    "pyctrl.manager._metrics",
    "pyctrl.manager._restart",
    "pyctrl.manager._rights_watch",
    "pyctrl.kinds.core.v1",
    "pyctrl.webhook",
    "pyctrl.apiserver",
}


def test_an_operators_imports_leave_out_what_it_may_not_use() -> None:
    """Each of these costs milliseconds or tens of them, at every start of every program."""
    code = "import sys; from pyctrl import Builder, Manager, Reconciler; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not LATER & set(run.stdout.split())
