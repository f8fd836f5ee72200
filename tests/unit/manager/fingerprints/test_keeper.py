"""The keeper: what it loads, when it writes, and that only the leader does."""

from __future__ import annotations

import asyncio
import logging
import sys
from datetime import timedelta

import pytest

from pyctrl.manager import LeaderElection, MemoryFingerprints
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


@pytest.mark.parametrize("changed", ["arguments", "environment"])
async def test_another_configuration_of_the_program_runs_everything(
    changed: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When an argument or a variable differs, all requests run, and one log line names which of both."""
    program = Program(MemoryFingerprints(verify_within=LONG))
    await filled(program, "web")
    if changed == "arguments":
        monkeypatch.setattr(sys, "argv", [*sys.argv, "--storage-class", "fast"])
    else:
        monkeypatch.setenv("STORAGE_CLASS", "fast")
    caplog.set_level(logging.INFO, "pyctrl.manager")
    assert await runs_after_restart(program) == ["web"]
    [record] = [each for each in caplog.records if each.message.startswith("Ignoring fingerprints")]
    assert vars(record)["changed"] == changed
    assert await runs_after_restart(program) == []


async def test_a_controller_that_follows_other_kinds_runs_everything() -> None:
    """A controller that reads another kind than before runs all requests, also if no file has changed."""
    from pyctrl.kinds.core.v1 import Secret, Service

    program = Program(MemoryFingerprints(verify_within=LONG))
    await filled(program, "web")
    program._reads = (Secret, Service)
    assert await runs_after_restart(program) == ["web"]


class Broken(MemoryFingerprints):
    """A store that fails."""

    async def load(self) -> bytes | None:
        raise OSError("no volume")

    async def save(self, data: bytes) -> None:
        raise OSError("no space left")


async def test_a_store_that_fails_changes_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    """If a store can neither load nor save, the program works as without one, and warns."""
    program = Program(Broken())
    await filled(program, "web")
    assert await runs_after_restart(program) == ["web"]
    messages = {record.message for record in caplog.records if record.levelno == logging.WARNING}
    assert "Failed to load fingerprints, all requests run: no volume" in messages
    assert "Failed to write fingerprints, trying again later: no space left" in messages


async def test_fingerprints_are_written_while_the_program_runs() -> None:
    """A program that is killed loses the fingerprints of its last interval only, and it does not write without need."""
    store = MemoryFingerprints(verify_within=LONG, interval=timedelta(seconds=60))
    program = Program(store)
    async with program.running() as manager:
        await manager.live_client.create(config_map("web", secret="x"))
        await asyncio.sleep(121)
        saved = store.data
        assert saved is not None
        await asyncio.sleep(3600)
        assert store.data is saved, "nothing has changed, so nothing is written"
        await manager.live_client.create(config_map("late", secret="x"))
        await asyncio.sleep(5)
    store.data = saved  # as after SIGKILL
    assert await runs_after_restart(program) == ["late"]


class Fenced(MemoryFingerprints):
    """A store that counts its writes."""

    def __init__(self) -> None:
        super().__init__(verify_within=LONG, interval=timedelta(seconds=1))
        self.times: list[float] = []

    async def save(self, data: bytes) -> None:
        self.times.append(asyncio.get_running_loop().time())
        await super().save(data)


async def test_only_the_leader_writes() -> None:
    """A replica that does not lead neither loads nor writes; after the leader it goes on with its fingerprints."""
    election = LeaderElection(name="op", namespace="default", identity="first")
    first, second = Fenced(), Fenced()
    leader = Program(first, leader_election=election)
    waiting = Program(
        second, server=leader.server, leader_election=LeaderElection(name="op", namespace="default", identity="second")
    )
    async with leader.running() as manager:
        await manager.live_client.create(config_map("web", secret="x"))
        await asyncio.sleep(10)
        follower = asyncio.create_task(follow(waiting))
        await asyncio.sleep(20)
        assert first.times
        assert not second.times
        second.data = first.data
    await asyncio.sleep(10)
    assert waiting.runs == [], "the new leader has the fingerprints of the former one"
    await follower


async def follow(program: Program) -> None:
    async with program.running():
        await asyncio.sleep(60)
