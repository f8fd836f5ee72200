"""Tests of the event loop with processes that stand still."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

from pyctrl._time_slices import TimeSlice
from pyctrl.simulation._loop import SimulationLoop, simulation_loop

_fact: ContextVar[str] = ContextVar("_fact", default="")


def run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=SimulationLoop) as runner:
        runner.run(main)


def test_a_process_can_be_frozen_while_its_callbacks_are_ready() -> None:
    """Callbacks of a frozen process wait, those of others run, and the loop does not lose count of them."""
    ran: list[str] = []

    async def step(name: str) -> None:
        ran.append(name)

    async def main() -> None:
        loop = simulation_loop()
        loop.call_soon(loop.freeze, "frozen")  # in the same iteration as the tasks
        for number in range(3):
            loop.start_task("frozen", step(f"frozen {number}"), "frozen")
        loop.start_task("other", step("other"), "other")
        await asyncio.sleep(1)
        assert ran == ["other"]
        loop.thaw("frozen")
        await asyncio.sleep(1)
        assert ran == ["other", "frozen 0", "frozen 1", "frozen 2"]

    run(main())


def test_a_process_that_dies_within_a_time_slice_does_not_stop_the_others() -> None:
    """The time slices of a loop go on when the process whose step began one dies before it is over."""
    renewed: list[str] = []

    async def begin_and_die() -> None:
        await TimeSlice.current().step()
        simulation_loop().freeze("dead")

    async def renew() -> None:
        await TimeSlice.current().renew()
        renewed.append("other")

    async def main() -> None:
        simulation_loop().start_task("dead", begin_and_die(), "dead")
        await asyncio.sleep(1)
        simulation_loop().start_task("other", renew(), "other")
        await asyncio.sleep(1)
        assert renewed == ["other"]

    run(main())


def test_a_process_starts_with_an_empty_context() -> None:
    """A process that is started from the task of another one has none of its context variables."""
    found: list[str] = []

    async def look() -> None:
        found.append(_fact.get())

    async def main() -> None:
        _fact.set("of the one that starts it")
        await simulation_loop().start_task("new", look(), "new")
        assert found == [""]

    run(main())
