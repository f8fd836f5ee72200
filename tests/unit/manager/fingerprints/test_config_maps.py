"""Fingerprints in ConfigMaps: of any size, written as a whole, with permissions for these only."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Access, Key
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import Conflict, ManagerError, NotFound, TransportError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import ConfigMapFingerprints
from pyctrl.manager._fingerprints.config_maps import MAX_PARTS, PART
from pyctrl.testing import AccessRecorder, ConnectionRefused, FaultyTransport, Rule
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


async def test_a_config_map_keeps_them() -> None:
    """A ConfigMap in the namespace of the operator has the fingerprints for the next process."""
    program = Program(ConfigMapFingerprints("op-fingerprints", verify_within=LONG))
    await filled(program, "web", "shop")
    program.store = ConfigMapFingerprints("op-fingerprints", verify_within=LONG)
    async with program.running() as manager:
        await asyncio.sleep(5)
        assert [each for each in program.runs if each != "op-fingerprints"] == []
        kept = await manager.live_client.get(ConfigMap, Key("default", "op-fingerprints"))
    assert kept.binary_data


@pytest.mark.parametrize("size", [0, PART, PART + 1])
async def test_data_of_any_size_fits(size: int) -> None:
    """Data is read as it was written, in as many ConfigMaps as it needs, each within the limit of the API server."""
    program = Program(None)
    async with program.running() as manager:
        store = ConfigMapFingerprints("op", namespace="default")
        store.connect(manager.live_client, "default")
        assert await store.load() is None
        first, second = bytes(range(256)) * (size // 256 + 1), b"second" * 7
        first = first[:size]
        for data in (first, first, second):
            await store.save(data)
            assert await store.load() == data
        found = await manager.live_client.list(ConfigMap, namespace="default")
        left = [each.metadata.name for each in found if each.metadata.name.startswith("op")]
        assert left == ["op"], "what is no longer needed is deleted"


async def test_an_interrupted_write_leaves_the_former_data() -> None:
    """A write of several ConfigMaps that ends in the middle leaves what was written before."""
    program = Program(None)
    async with program.running() as manager:
        network = FaultyTransport(InProcessTransport(program.server))
        store = ConfigMapFingerprints("op", namespace="default")
        store.connect(Client(network), "default")
        former = b"a" * (2 * PART)
        await store.save(former)
        network.add(Rule(ConnectionRefused(), method="POST", nth=2, times=None))
        with pytest.raises(TransportError):
            await store.save(b"b" * (3 * PART))
        network.clear()
        assert await store.load() == former
        store.connect(manager.live_client, "default")
        await store.save(b"c" * (3 * PART))
        assert await store.load() == b"c" * (3 * PART)


async def test_data_that_is_too_large_is_refused() -> None:
    """Data that does not fit is not written, and the error says what to do."""
    store = ConfigMapFingerprints("op")
    with pytest.raises(ManagerError, match="keep them in a file"):
        await store.save(b"x" * (PART * MAX_PARTS + 1))


async def test_another_writer_wins_a_conflict() -> None:
    """A writer whose copy is old does not overwrite a newer one."""
    program = Program(None)
    async with program.running() as manager:
        store = ConfigMapFingerprints("op", namespace="default")
        store.connect(manager.live_client, "default")
        await store.save(b"first")
        present = await manager.live_client.get(ConfigMap, Key("default", "op"))
        await store.save(b"second")
        with pytest.raises(Conflict):
            await store._put(present, "op", b"late", "")
        assert await store.load() == b"second"


async def test_the_permissions_of_the_config_map_form_suffice() -> None:
    """The derived permissions are exactly what the store uses: create, and access to its own ConfigMaps only."""
    program = Program(None)
    recorder = AccessRecorder()
    async with program.running() as manager:
        assert manager.config is not None
        store = ConfigMapFingerprints("op")
        async with Client.connect(recorder.recorded(manager.config)) as client:
            store.connect(client, "default")
            await store.load()
            for data in (b"x" * (2 * PART), b"y" * (2 * PART), b"z"):
                await store.save(data)
    names = {name for permission in store.rbac for name in permission.rule.names}
    used = {each.access.verb: each.names for each in recorder.asked}
    assert set(used) == {"create", "get", "update", "delete"}
    assert {name for verb, found in used.items() if verb != "create" for name in found} <= names


async def test_a_program_that_asks_for_config_maps_gets_the_permissions() -> None:
    """The grants of a manager contain those of the store, in the operator's own namespace."""
    program = Program(ConfigMapFingerprints("op"))
    async with program.running() as manager:
        granted = manager.grants(own_namespace="operators")
    for verb in ("get", "update", "delete"):
        access = Access(verb, "", "configmaps", namespace="operators")
        assert granted.allow(access._replace(name="op-a-0"))
        assert not granted.allow(access._replace(name="other"))


def test_names_must_be_names_of_objects() -> None:
    """A ConfigMap's name is checked at once."""
    with pytest.raises(ManagerError, match="needs a name such as"):
        ConfigMapFingerprints("Not a name")


async def test_a_missing_config_map_is_no_error() -> None:
    """Deleting the ConfigMap is the way to run everything at the next start."""
    program = Program(ConfigMapFingerprints("op", verify_within=LONG))
    await filled(program, "web")
    async with Program(None, server=program.server).running() as manager:
        await manager.live_client.delete(ConfigMap, Key("default", "op"))
        with pytest.raises(NotFound):
            await manager.live_client.get(ConfigMap, Key("default", "op"))
    assert "web" in await runs_after_restart(program)
