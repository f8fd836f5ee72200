"""Calls that share one run: its result, its error, and the time after it."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.client._login.single_flight import SingleFlight


async def test_callers_share_a_run_and_its_error() -> None:
    """Callers that come during a call share it and its error; the next call is another one, without the error."""
    flight, runs = SingleFlight(), 0

    async def log_in() -> None:
        nonlocal runs
        runs += 1
        await asyncio.sleep(1)
        if runs == 1:
            raise ValueError("the first run")

    results = await asyncio.gather(*(flight.run(log_in) for _ in range(3)), return_exceptions=True)
    assert [str(each) for each in results] == ["the first run"] * 3
    assert runs == 1

    await asyncio.gather(*(flight.run(log_in) for _ in range(3)))
    assert runs == 2


async def test_a_caller_that_is_cancelled_does_not_take_the_others_with_it() -> None:
    """If the caller that runs is cancelled, the next one runs the call."""
    flight, ends = SingleFlight(), list[str]()

    async def log_in(name: str) -> None:
        await asyncio.sleep(1)
        ends.append(name)

    first = asyncio.create_task(flight.run(lambda: log_in("first")))
    second = asyncio.create_task(flight.run(lambda: log_in("second")))
    await asyncio.sleep(0.5)
    first.cancel()
    await second
    with pytest.raises(asyncio.CancelledError):
        await first
    assert ends == ["second"]
