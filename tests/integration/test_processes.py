"""Operators as separate processes: what the tests rely on."""

from __future__ import annotations

import asyncio

import pytest

from tests.integration._processes import Operator


class Ended:
    """A process that has ended, and whose last lines have not been read."""

    def __init__(self) -> None:
        self.stdout = asyncio.StreamReader()

    async def wait(self) -> int:
        return 0


@pytest.mark.virtual_time
async def test_the_log_is_complete_when_the_process_has_ended() -> None:
    """The exit code comes after the last line of the log, also if the process ends before it is read."""
    process = Ended()
    operator = Operator(process)  # type: ignore[arg-type]  # all that it uses
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.listen())
        ending = group.create_task(operator.exit_code())
        await asyncio.sleep(1)
        assert not ending.done()
        process.stdout.feed_data(b"Released lease\n")
        process.stdout.feed_eof()
        assert await ending == 0
        assert operator.log == ["Released lease"]


@pytest.mark.virtual_time
async def test_a_process_that_ends_without_saying_it_is_not_waited_for() -> None:
    """Waiting for a line fails with the log as soon as the process has ended without it."""
    process = Ended()
    operator = Operator(process)  # type: ignore[arg-type]  # all that it uses
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.listen())
        process.stdout.feed_data(b"no such kind\n")
        process.stdout.feed_eof()
        with pytest.raises(AssertionError, match=r"ended and did not say it:\nno such kind"):
            await operator.says("Starting workers")
        assert asyncio.get_running_loop().time() == 0
