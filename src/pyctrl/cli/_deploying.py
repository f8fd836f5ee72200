"""Put a program into a cluster or take it out, and tell each step."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta

from pyctrl.client import Client
from pyctrl.errors import TransportError, Unauthorized
from pyctrl.shipping import Deployer, read_project

from ._login import Account
from ._ship_flags import ShipFlags

__all__ = ["deploy_program", "undeploy_program"]

Work = Callable[[Deployer], Awaitable[None]]


def deploy_program(program: str | None, flags: ShipFlags, account: Account, *, wait: timedelta) -> int:
    """Deploy a program; give the exit code."""

    async def work(deployer: Deployer) -> None:
        async for step in deployer.deploy():
            print(step, flush=True)
        if wait:
            print("waiting until it is available", file=sys.stderr, flush=True)
            await deployer.wait(wait)
            print("available")

    return asyncio.run(_with_deployer(program, flags, account, work))


def undeploy_program(program: str | None, flags: ShipFlags, account: Account, *, delete_crds: bool) -> int:
    """Undeploy a program; give the exit code."""

    async def work(deployer: Deployer) -> None:
        kept = False
        async for step in deployer.undeploy(delete_definitions=delete_crds):
            print(step, flush=True)
            kept = kept or step.what == "kept"
        if kept:
            print("what was kept goes with --delete-crds, and with it all objects of these kinds", file=sys.stderr)

    return asyncio.run(_with_deployer(program, flags, account, work))


async def _with_deployer(program: str | None, flags: ShipFlags, account: Account, work: Work) -> int:
    project = await read_project(flags.settings(program))
    config = account.config()
    async with Client.connect(config) as client:
        try:
            await work(Deployer(client, project))
        except (TransportError, Unauthorized) as error:
            from ._refusals import explained  # here: needed only now

            raise await explained(error, config) from error
    return 0
