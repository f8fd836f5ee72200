"""Stores of fingerprints and their options."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from pyctrl.errors import ManagerError
from pyctrl.manager import FileFingerprints, Fingerprints, MemoryFingerprints
from tests.unit.manager.fingerprints._programs import Program, config_map

LONG = timedelta(days=300)


async def filled(program: Program, *names: str) -> None:
    """Run a program until ConfigMaps have converged."""
    async with program.running() as manager:
        for name in names:
            await manager.live_client.create(config_map(name, secret="x"))
        await asyncio.sleep(5)


async def runs_after_restart(program: Program) -> list[str]:
    """Restart a program and return what it runs in the first seconds, sorted."""
    async with program.running():
        await asyncio.sleep(5)
        return sorted(program.runs)


async def test_what_the_user_adds_to_the_version_counts() -> None:
    """Another ``code=`` runs everything."""
    store = MemoryFingerprints(verify_within=LONG, code="v1")
    program = Program(store)
    await filled(program, "web")
    store.code = "v2"
    assert await runs_after_restart(program) == ["web"]
    assert await runs_after_restart(program) == []


async def test_a_file_keeps_them(tmp_path: Path) -> None:
    """A file on a volume has the fingerprints for the next process."""
    path = tmp_path / "state" / "fingerprints"
    program = Program(FileFingerprints(path, verify_within=LONG))
    await filled(program, "web", "shop")
    assert path.is_file()
    assert [each.name for each in path.parent.iterdir()] == ["fingerprints"]
    program.store = FileFingerprints(path, verify_within=LONG)
    assert await runs_after_restart(program) == []


def test_times_must_be_positive() -> None:
    """A store refuses times that are not positive."""
    for make in (
        lambda: MemoryFingerprints(verify_within=timedelta(0)),
        lambda: FileFingerprints("fingerprints", interval=-timedelta(minutes=1)),
    ):
        with pytest.raises(ManagerError, match="must be positive"):
            make()


async def test_a_manager_has_one_store() -> None:
    """A second store is refused."""
    program = Program(MemoryFingerprints())
    async with program.running() as manager:
        other: Fingerprints = MemoryFingerprints()
        with pytest.raises(ManagerError, match="already"):
            manager.use_fingerprints(other)
