"""An example as a separate process, against any cluster."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from pyctrl.apiserver import ApiServer, serve
from pyctrl.client import Config
from pyctrl.testing import ClusterUnderTest

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 45.0  # seconds until a process logs an expected line; its imports take about one, many on a busy machine


@asynccontextmanager
async def kubeconfig_for(cluster: ClusterUnderTest, directory: Path) -> AsyncIterator[Path]:
    """Write a kubeconfig for the cluster under test; an embedded one is served over HTTP inside the block."""
    path = directory / "kubeconfig"
    if not isinstance(cluster.config.application, ApiServer):
        path.write_text(cluster.config.to_kubeconfig())
        yield path
        return
    async with serve(cluster.config.application, "127.0.0.1", 0) as url:
        header = await cluster.config.credentials.authorization()  # the user of the credentials, if they have one
        token = header.removeprefix("Bearer ") if header else "admin"
        path.write_text(Config.from_token(url, token, namespace=cluster.config.namespace).to_kubeconfig())
        yield path


class Operator:
    """A running ``python -m examples.…``, and its log so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._news = asyncio.Event()
        self._is_read = asyncio.Event()
        self.log: list[str] = []

    async def listen(self) -> None:
        """Read its log until the process ends."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.log.append(line.decode().rstrip())
            self._news.set()
        self._is_read.set()
        self._news.set()

    async def says(self, what: Callable[[str], bool] | str) -> str:
        """Wait for a line of the log, and return it; fail at once if the process ends without it."""
        matches = what if callable(what) else lambda line: what in line
        try:
            async with asyncio.timeout(PATIENCE):
                while not (found := next(filter(matches, self.log), None)):
                    if self._is_read.is_set():
                        raise AssertionError("the operator ended and did not say it:\n" + "\n".join(self.log[-40:]))
                    self._news.clear()
                    await self._news.wait()
                return found
        except TimeoutError:
            raise AssertionError("the operator did not say it:\n" + "\n".join(self.log[-40:])) from None

    async def has_reconciled(self, namespace: str, *names: str) -> None:
        """Wait until it has reconciled these objects at least once."""
        for name in names:
            words = ("Reconcile successful", f"object={namespace}/{name} ")
            await self.says(lambda line, words=words: all(word in f"{line} " for word in words))  # type: ignore[misc]

    async def end(self, number: signal.Signals) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self._process.send_signal(number)
        return await self.exit_code()

    async def exit_code(self) -> int:
        """Wait for the end of the process and of its log."""
        async with asyncio.timeout(PATIENCE):
            code = await self._process.wait()
            await self._is_read.wait()  # the last lines may be read after the process has ended
            return code

    @property
    def is_running(self) -> bool:
        """Return whether the process has not ended."""
        return self._process.returncode is None


#: Several operators run on one machine, where default ports may be in use.
NO_SERVERS = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")


def podset_process(kubeconfig: Path) -> AbstractAsyncContextManager[Operator]:
    """Run the PodSet operator until the block ends, at the latest."""
    return example_process("podset", "--verbose", "--kubeconfig", str(kubeconfig))


def example_process(example: str, *arguments: str) -> AbstractAsyncContextManager[Operator]:
    """Run an example until the block ends, at the latest."""
    return process(f"examples.{example}", *arguments, *(NO_SERVERS if example != "inventory" else ()))


@asynccontextmanager
async def process(module: str, *arguments: str, **environment: str) -> AsyncIterator[Operator]:
    """Run a module until the block ends, at the latest."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module, *arguments),
        cwd=REPOSITORY,
        env=os.environ | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    operator = Operator(running)
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.listen())
        try:
            yield operator
        except Exception as error:
            error.add_note("the operator said:\n  " + "\n  ".join(operator.log[-40:]))
            raise
        finally:
            with suppress(ProcessLookupError):
                running.kill()
            await running.wait()
