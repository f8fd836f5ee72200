"""Restarts with fingerprints: only what has changed, or is doubtful, runs at the start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.controller import Builder, ChannelSource, Request, Result, mapped
from pyctrl.kinds.core.v1 import ConfigMap, Secret, Service, ServiceSpec
from pyctrl.manager import Manager, MemoryFingerprints
from tests.unit.manager.fingerprints._programs import Noter, Program, config_map, read_named_secret, secret

LONG = timedelta(days=300)


HOUR = 3600.0


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


async def test_a_converged_request_does_not_run_at_the_next_start() -> None:
    """After a restart without changes nothing runs, and a change runs its request as before."""
    program = Program(MemoryFingerprints(verify_within=LONG))
    await filled(program, web="db", shop="cache")
    async with program.running() as manager:
        await settled(manager)
        assert program.runs == []
        await manager.live_client.create(secret("cache"))
        await settled(manager)
        assert program.runs == ["shop"]


async def test_without_fingerprints_everything_runs() -> None:
    """By default each start runs all requests."""
    program = Program(None)
    await filled(program, web="db", shop="cache")
    assert await runs_after_restart(program) == ["shop", "web"]


async def test_a_requested_delay_is_kept_over_a_restart() -> None:
    """A request that asked to run in an hour runs when the hour is over, not at the start, and not an hour later."""

    async def run(noter: Noter, request: Request) -> Result | None:
        return Result.after(timedelta(hours=1)) if request.name == "timed" else None

    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, timed="x", other="x")
    await asyncio.sleep(HOUR / 2)
    async with program.running() as manager:
        await settled(manager, HOUR / 2 - 60)
        assert program.runs == []
        await settled(manager, 120)
        assert program.runs == ["timed"]
    await asyncio.sleep(2 * HOUR)
    assert await runs_after_restart(program) == ["timed"], "it was due while the program did not run"


async def test_what_did_not_run_is_verified_within_the_limit() -> None:
    """Each request that the start left out runs once, at different times, within the limit since its last run."""
    program = Program(MemoryFingerprints(verify_within=timedelta(hours=4)))
    await filled(program, **{f"set-{number}": "x" for number in range(40)})
    await asyncio.sleep(HOUR)
    async with program.running() as manager:
        await settled(manager, 1.5 * HOUR)
        assert 10 <= len(program.runs) <= 30
        await settled(manager, 1.6 * HOUR)
        assert sorted(program.runs) == sorted(f"set-{number}" for number in range(40))


async def test_nothing_is_verified_in_the_first_minute() -> None:
    """Verifications leave the first minute after a start to what has changed, and are not late because of it."""
    program = Program(MemoryFingerprints(verify_within=timedelta(minutes=2)))
    await filled(program, **{f"set-{number}": "x" for number in range(40)})
    async with program.running() as manager:
        await settled(manager, 59)
        assert program.runs == []
        await settled(manager, 61)
        assert len(program.runs) == 40


async def test_frequent_restarts_do_not_put_the_verification_off() -> None:
    """A program that restarts every hour still verifies within four hours."""
    program = Program(MemoryFingerprints(verify_within=timedelta(hours=4)))
    await filled(program, web="x")
    runs = 0
    for _ in range(5):
        async with program.running() as manager:
            await settled(manager, 0.9 * HOUR)
            runs += len(program.runs)
    assert runs >= 1


def watches_secrets(builder: Builder[Any]) -> Builder[Any]:
    return builder.watches(Secret, mapped(lambda found: [Request(found.metadata.namespace, found.metadata.name)]))


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (watches_secrets, "it watches Secret with a handler of its own"),
        (lambda builder: builder.watches_source(ChannelSource(name="calls")), "channel source: calls"),
        (lambda builder: builder.options(fingerprints=False), "its option fingerprints is False"),
        (lambda builder: builder.options(only_leader=False), "every replica runs it"),
    ],
    ids=["watches", "source", "option", "every replica"],
)
async def test_a_controller_of_which_nothing_can_be_known_runs_all(
    wire: Callable[[Builder[Any]], Builder[Any]], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A controller with handlers or sources of its own, or that asks for it, runs all; the log says why."""
    caplog.set_level(logging.INFO, "pyctrl.manager")
    program = Program(MemoryFingerprints(verify_within=LONG), wire=wire)
    await filled(program, web="x")
    assert await runs_after_restart(program) == ["web"]
    [record] = [each for each in caplog.records if each.message.startswith("Keeping no fingerprints")][:1]
    assert reason in vars(record)["reason"]


async def test_an_external_api_is_not_called_by_a_restart() -> None:
    """A reconcile that calls an external API does not call it after a restart in which nothing has changed."""
    calls: list[str] = []

    async def run(noter: Noter, request: Request) -> None:
        await read_named_secret(noter, request)
        calls.append(request.name)

    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, **{f"set-{number}": "x" for number in range(50)})
    assert len(calls) == 50
    await runs_after_restart(program)
    assert len(calls) == 50


async def test_a_service_that_is_owned_without_a_handler_of_its_own_is_known() -> None:
    """``watches(kind, for_owner(...))`` of the reconciled kind counts as ``owns``."""
    from pyctrl.controller import for_owner

    program = Program(
        MemoryFingerprints(verify_within=LONG), wire=lambda builder: builder.watches(Service, for_owner(ConfigMap))
    )
    await filled(program, web="x")
    assert await runs_after_restart(program) == []
    async with Manager(program.manager.config) as other:
        owner = await other.live_client.get(ConfigMap, Key("default", "web"))
        made = Service(
            metadata=ObjectMeta(name="web", namespace="default"),
            spec=ServiceSpec.from_wire({"ports": [{"port": 80}]}),
        )
        set_controller_reference(owner, made)
        await other.live_client.create(made)
    assert await runs_after_restart(program) == ["web"]
