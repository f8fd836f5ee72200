"""Runner of `pyctrl deploy` and `pyctrl undeploy`, which reports each step."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

from pyctrl.cli._client_flags import ConfigFlags
from pyctrl.cli._output import print_json
from pyctrl.cli._packaging_flags import InstanceFlags, PackagingFlags
from pyctrl.cli._progress import Progress
from pyctrl.client import Client
from pyctrl.errors import TransportError, Unauthorized
from pyctrl.packaging import Deployer, Project, Step, read_project

__all__ = ["deploy_program", "undeploy_program"]

Work = Callable[[Deployer, Project], Awaitable[None]]


class DeployReport:
    """Reports the steps: each one immediately as text, or all of them as JSON at the end, also after an error."""

    def __init__(self, output: str) -> None:
        self._is_text = output == "text"
        self._steps: list[Step] = []
        self._available: bool | None = None  # None: not waited for

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_text:
            steps = [
                {"action": each.what, "kind": each.kind, "namespace": each.key.namespace, "name": each.key.name}
                for each in self._steps
            ]
            print_json({"steps": steps, "available": self._available})

    async def follow(self, steps: AsyncIterator[Step]) -> None:
        """Report each step."""
        with Progress("the API server", quiet=not self._is_text) as progress:
            async for step in steps:
                self._steps.append(step)
                progress.clear()
                self._tell(str(step))

    async def wait(self, deployer: Deployer, project: Project, timeout: timedelta) -> None:
        """Wait until the Deployment is available."""
        self._available = False
        with Progress(f"Deployment {project.account} to become available", quiet=not self._is_text):
            await deployer.wait(timeout)
        self._available = True
        self._tell("available")

    def _tell(self, text: str) -> None:
        if self._is_text:
            print(text, flush=True)

    @property
    def has_kept(self) -> bool:
        """Return whether objects were kept in the cluster whose removal was not explained yet."""
        return self._is_text and any(step.what == "kept" for step in self._steps)


def deploy_program(
    program: str | None,
    flags: PackagingFlags,
    login: ConfigFlags,
    *,
    wait: timedelta,
    allow_crd_loss: bool,
    output: str,
) -> int:
    """Deploy a program; return the exit code."""

    async def work(deployer: Deployer, project: Project) -> None:
        with DeployReport(output) as report:
            await report.follow(deployer.deploy())
            if wait:
                await report.wait(deployer, project, wait)

    return asyncio.run(_with_deployer(program, flags, login, work, allow_loss=allow_crd_loss))


def undeploy_program(
    program: str | None, flags: InstanceFlags, login: ConfigFlags, *, delete_crds: bool, output: str
) -> int:
    """Undeploy a program; return the exit code."""

    async def work(deployer: Deployer, project: Project) -> None:
        with DeployReport(output) as report:
            await report.follow(deployer.undeploy(delete_definitions=delete_crds))
        if report.has_kept:
            print("--delete-crds also removes the kept objects, and all objects of these kinds", file=sys.stderr)

    return asyncio.run(_with_deployer(program, flags, login, work))


async def _with_deployer(
    program: str | None, flags: InstanceFlags, login: ConfigFlags, work: Work, *, allow_loss: bool = False
) -> int:
    project = await read_project(flags.settings(program))
    config = login.config()
    async with Client.connect(config) as client:
        try:
            await work(Deployer(client, project, allow_loss=allow_loss), project)
        except (TransportError, Unauthorized) as error:
            from pyctrl.cli._login_errors import explain_login_error  # here: needed for errors only

            raise await explain_login_error(error, config) from error
    return 0
