"""Deadlines that can be brought forward, cancelling of tasks, and exception groups of one error."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl._tasks import Deadline, end, until_first_ends, unwrap, unwrapped
from pyctrl.testing import run_virtual


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_a_deadline_ends_when_all_are_done() -> None:
    """A wait ends as soon as all tasks are done."""
    deadline = Deadline(timedelta(seconds=30))
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (1, 5)]
    assert await deadline.wait(tasks) == set()
    assert now() == 5
    deadline.close()


async def test_a_deadline_is_shared_by_those_who_wait_in_turn() -> None:
    """Time that the first wait uses is not available to the second one."""
    deadline = Deadline(timedelta(seconds=30))
    first, second = (asyncio.create_task(asyncio.sleep(delay)) for delay in (20, 60))
    assert await deadline.wait([first]) == set()
    assert await deadline.wait([second]) == {second}
    assert now() == 30
    assert await end([second]) == set()


async def test_a_deadline_can_be_brought_forward() -> None:
    """Expiring a deadline ends a current wait, also one without a limit."""
    deadline = Deadline(None)
    task = asyncio.create_task(asyncio.sleep(3600))
    asyncio.get_running_loop().call_later(7, deadline.expire)
    assert await deadline.wait([task]) == {task}
    assert (now(), deadline.is_over) == (7, True)
    await end([task])


async def test_ending_waits_for_clean_up_even_when_cancelled_itself() -> None:
    """A second cancellation takes effect only after all tasks have ended."""
    cleaned: list[float] = []

    async def child() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(5)
            cleaned.append(now())

    task = asyncio.create_task(child())
    await asyncio.sleep(0)
    ending = asyncio.create_task(end([task]))
    await asyncio.sleep(1)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert cleaned == [5]


async def test_ending_gives_up_on_who_ignores_it() -> None:
    """After the timeout the tasks that have not ended are returned."""
    let_go = asyncio.Event()

    async def stubborn() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    assert await end([task], patience=timedelta(seconds=5)) == {task}
    let_go.set()
    await task


def test_groups_of_one_are_unwrapped() -> None:
    """A single error is raised without its groups; several errors stay a group."""
    error = ValueError("one")
    assert unwrap(ExceptionGroup("outer", [ExceptionGroup("inner", [error])])) is error
    with pytest.raises(ValueError, match="one") as caught, unwrapped():
        raise ExceptionGroup("outer", [error])
    assert (caught.value, caught.value.__cause__, caught.value.__suppress_context__) == (error, None, True)

    two = ExceptionGroup("two", [ValueError(), KeyError()])
    assert unwrap(two) is two
    with pytest.raises(ExceptionGroup), unwrapped():
        raise two


def test_the_first_of_several_works_to_end_cancels_the_others() -> None:
    """Its error is raised after the others have ended."""
    ended = []

    async def wait(seconds: float, error: Exception | None = None) -> None:
        try:
            await asyncio.sleep(seconds)
        finally:
            ended.append(seconds)
        if error is not None:
            raise error

    async def main() -> None:
        await until_first_ends(wait(5), wait(1), wait(3))
        assert sorted(ended) == [1, 3, 5]
        assert asyncio.get_running_loop().time() < 2
        with pytest.raises(ValueError, match="first"):
            await until_first_ends(wait(5), wait(1, ValueError("first")))

    run_virtual(main())
