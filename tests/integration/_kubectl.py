"""A real kubectl for the cluster of a test; an embedded one is served over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pyctrl.apiserver import ApiServer, serve
from pyctrl.client import Config
from pyctrl.testing import ClusterUnderTest

PATIENCE = 60.0  # seconds for one command; a control plane on a loaded machine is slow

_EDIT = """
import pathlib, sys
*_, old, new, name = sys.argv
file = pathlib.Path(name)
file.write_text(file.read_text().replace(old, new))
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command."""

    code: int
    out: str
    err: str


class Kubectl:
    """Runs kubectl in one namespace, with its own home for caches."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._home = kubeconfig.parent
        self._options = ("--kubeconfig", str(kubeconfig), "--namespace", namespace)

    async def __call__(self, *arguments: str, stdin: object = "", editing: tuple[str, str] = ("", "")) -> str:
        """Run a command that must succeed, and return its output.

        Args:
            stdin: the input for `-f -`, as text.
            editing: the old and new text for `kubectl edit`.
        """
        outcome = await self.outcome(*arguments, stdin=stdin, editing=editing)
        assert outcome.code == 0, f"kubectl {' '.join(arguments)}: {outcome.err or outcome.out}"
        return outcome.out.strip()

    async def outcome(self, *arguments: str, stdin: object = "", editing: tuple[str, str] = ("", "")) -> Outcome:
        """Run a command and return its outcome, success or failure."""
        process = await self._start(arguments, editing)
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(str(stdin).encode())
        assert process.returncode is not None
        return Outcome(process.returncode, out.decode(), err.decode())

    @asynccontextmanager
    async def lines(self, *arguments: str) -> AsyncIterator[asyncio.StreamReader]:
        """Run a continuous command, such as a watch, until the block ends; yield its output."""
        process = await self._start(arguments, ("", ""))
        assert process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE):
                yield process.stdout
        finally:
            process.kill()
            await process.communicate()

    async def _start(self, arguments: tuple[str, ...], editing: tuple[str, str]) -> asyncio.subprocess.Process:
        editor = self._home / "edit.py"
        editor.write_text(_EDIT)
        old, new = editing
        return await asyncio.create_subprocess_exec(
            *("kubectl", *self._options, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._home,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "EDITOR": f"{sys.executable} {editor} '{old}' '{new}'",
            },
        )


@asynccontextmanager
async def kubectl_for(cluster: ClusterUnderTest, namespace: str, directory: Path) -> AsyncIterator[Kubectl]:
    """Return a kubectl for a namespace of a cluster, with its files in `directory`."""
    async with _reachable(cluster) as config:
        kubeconfig = directory / "kubeconfig"
        kubeconfig.write_text(config.to_kubeconfig())
        yield Kubectl(kubeconfig, namespace)


@asynccontextmanager
async def _reachable(cluster: ClusterUnderTest) -> AsyncIterator[Config]:
    server = cluster.config.application
    if server is None:
        yield cluster.config
        return
    assert isinstance(server, ApiServer)
    async with serve(server) as url:
        yield Config.from_token(url, "admin")
