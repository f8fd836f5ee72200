"""A run of which it cannot be known what it has seen has no fingerprint."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.controller import Request
from pyctrl.kinds.core.v1 import Secret, Service
from pyctrl.manager import Manager, MemoryFingerprints
from tests.unit.manager.fingerprints._programs import Noter, Program, config_map

LONG = timedelta(days=300)


async def settled(manager: Manager, seconds: float = 5.0) -> None:
    """Wait until nothing is left to do."""
    await asyncio.sleep(seconds)


async def filled(program: Program, **secrets: str) -> None:
    """Run a program until ConfigMaps that name Secrets have converged."""
    async with program.running() as manager:
        for name, of in secrets.items():
            await manager.live_client.create(config_map(name, secret=of))
        await settled(manager)


async def runs_after_restart(program: Program) -> list[str]:
    """Restart a program and return what it runs in the first seconds, sorted."""
    async with program.running() as manager:
        await settled(manager)
        return sorted(program.runs)


async def read_live(noter: Noter, request: Request) -> None:
    """Read the Secret from the server."""
    await noter.client.live.find(Secret, Key("default", "x"))


async def read_undeclared(noter: Noter, request: Request) -> None:
    """Read a kind that the cache does not have."""
    with pytest.raises(Exception, match="Service"):
        await noter.client.find(Service, Key("default", "x"))


@pytest.mark.filterwarnings("ignore:controller .* reads Service")  # which is what the test is about
@pytest.mark.parametrize("run", [read_live, read_undeclared], ids=["live", "undeclared"])
async def test_a_run_with_doubtful_reads_has_no_fingerprint(run: Any) -> None:
    """A run that reads from the server, or a kind that the controller does not follow, runs at each start."""
    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, web="x")
    assert await runs_after_restart(program) == ["web"]
