"""`pyctrl` and a shell with their own home, and clusters with RBAC behind TLS for them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from pyctrl.client import BearerToken, Config
from pyctrl.cluster import Cluster
from pyctrl.testing import ClusterUnderTest

PATIENCE = 30.0  # seconds for one command, which may start others


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a directory that is also their home."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    async def pyctrl(self, *arguments: str | Path) -> Outcome:
        """Run `pyctrl …`."""
        return await self.run(sys.executable, "-m", "pyctrl", *map(str, arguments))

    async def bash(self, line: str) -> Outcome:
        """Run a line like one pasted into bash."""
        return await self.run("bash", "-c", line)

    async def run(self, *command: str) -> Outcome:
        """Run a command until it ends."""
        process = await self._start(command)
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
        assert process.returncode is not None
        return Outcome(process.returncode, out.decode(), err.decode())

    @asynccontextmanager
    async def lines(self, line: str) -> AsyncIterator[asyncio.StreamReader]:
        """Run a continuous line in bash until the block ends; yield its output."""
        process = await self._start(("bash", "-c", line))
        assert process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE):
                yield process.stdout
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # bash and its children
            await process.communicate()

    async def _start(self, command: Sequence[str]) -> asyncio.subprocess.Process:
        kept = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={**kept, "HOME": str(self.home), **self.variables},
            start_new_session=True,
        )


@asynccontextmanager
async def guarded(cluster: ClusterUnderTest) -> AsyncIterator[Config]:
    """Return an administrator's login to a cluster with RBAC, behind TLS, which fills service account Secrets.

    This is the cluster under test, unless it is embedded (no RBAC, no TLS) or has no controllers.
    """
    if not cluster.is_embedded and cluster.has_controllers:
        yield cluster.config
        return
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as own, own.serve(tls=True) as config:
        yield config


def with_token(admin: Config, token: str) -> Config:
    """Return a token login to an administrator's server, without the certificate, which would take precedence."""
    return replace(admin, credentials=BearerToken(token), tls=replace(admin.tls, certificate=None))
