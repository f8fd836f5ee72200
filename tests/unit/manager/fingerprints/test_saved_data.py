"""Data that is lost, old, torn or from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from pyctrl.api import Key
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import MemoryFingerprints
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


def lost(data: bytes, _other: bytes) -> bytes | None:
    return None


def torn(data: bytes, _other: bytes) -> bytes:
    return data[: len(data) // 2]


def mixed(data: bytes, _other: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def of_another_format(data: bytes, _other: bytes) -> bytes:
    return data.replace(b"fingerprints 1", b"fingerprints 0", 1)


def of_another_cluster(_data: bytes, other: bytes) -> bytes:
    return other


def garbage(_data: bytes, _other: bytes) -> bytes:
    return b"\0" * 100


@pytest.mark.parametrize("damage", [lost, torn, mixed, of_another_format, of_another_cluster, garbage])
async def test_data_that_cannot_be_used_runs_everything(damage: Callable[[bytes, bytes], bytes | None]) -> None:
    """Without usable data all requests run, and the next start has fingerprints again."""
    store, elsewhere = MemoryFingerprints(verify_within=LONG), MemoryFingerprints(verify_within=LONG)
    await filled(Program(elsewhere), "web", "shop")
    program = Program(store)
    await filled(program, "web", "shop")
    assert store.data is not None
    assert elsewhere.data is not None
    store.data = damage(store.data, elsewhere.data)
    assert await runs_after_restart(program) == ["shop", "web"]
    assert await runs_after_restart(program) == []


async def test_an_old_copy_runs_what_has_changed_since() -> None:
    """An earlier copy that is put back leaves out only what is as it was then."""
    store = MemoryFingerprints(verify_within=LONG)
    program = Program(store)
    await filled(program, "web", "shop")
    old = store.data
    async with program.running() as manager:
        web = await manager.live_client.get(ConfigMap, Key("default", "web"))
        web.data["more"] = "x"
        await manager.live_client.update(web)
        await asyncio.sleep(5)
        assert program.runs == ["web"]
    store.data = old
    assert await runs_after_restart(program) == ["web"]
