"""Logs of containers: lines with times, tails and limits, and readers that follow."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl import _clock
from pyctrl.apiserver import PodLogOptions
from pyctrl.cluster._kubelet.container_log import MAX_BYTES, ContainerLog


async def read(log: ContainerLog, **options: object) -> bytes:
    """Return what a reader gets."""
    return b"".join([chunk async for chunk in log.read(PodLogOptions(**options))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, b"one\ntwo\nthree\n"),
        ({"tail_lines": 2}, b"two\nthree\n"),
        ({"tail_lines": 0}, b""),
        ({"tail_lines": 9}, b"one\ntwo\nthree\n"),
        ({"limit_bytes": 5}, b"one\nt"),
        ({"tail_lines": 1, "limit_bytes": 2}, b"th"),
    ],
)
async def test_tail_and_limit(options: dict[str, int], text: bytes) -> None:
    """The tail counts lines, the limit counts bytes from there."""
    log = ContainerLog()
    log.stdout.write("one\ntw")
    log.stdout.write(b"o\nthree\n")
    assert await read(log, **options) == text


async def test_lines_have_times() -> None:
    """Older lines than `since` are left out, after the tail was chosen; timestamps have nanoseconds."""
    log = ContainerLog()
    log.stdout.write("old\n")
    await asyncio.sleep(10)
    log.stderr.write("new\n")
    since = _clock.now() - timedelta(seconds=1)
    assert await read(log, since=since) == b"new\n"
    assert await read(log, since=since, tail_lines=2, timestamps=True) == b"2026-01-01T00:00:10.000000000Z new\n"


async def test_a_line_is_complete_at_its_end() -> None:
    """A partial line is not shown until its end is written or the container has ended."""
    log = ContainerLog()
    print("a", end="", file=log.stdout, flush=True)
    log.stderr.write("b\n")
    assert await read(log) == b"b\n"
    log.end()
    log.stderr.write("late\n")
    assert await read(log) == b"b\na\n"


async def test_a_reader_follows_until_the_end() -> None:
    """A following reader gets lines as they are written, in chunks that it takes."""
    log = ContainerLog()
    log.stdout.write("0\n")

    async def write() -> None:
        for number in range(1, 4):
            await asyncio.sleep(1)
            log.stdout.write(f"{number}\n")
        log.end()

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        following = group.create_task(read(log, follow=True, tail_lines=0))
        limited = group.create_task(read(log, follow=True, limit_bytes=3))
    assert (following.result(), limited.result()) == (b"1\n2\n3\n", b"0\n1")


async def test_a_long_log_loses_its_first_lines() -> None:
    """The log has at most the size at which a kubelet rotates it; a reader continues with the lines that are left."""
    log = ContainerLog()
    line = b"x" * (MAX_BYTES // 4 - 1) + b"\n"
    for number in range(6):
        log.stdout.write(line)
        log.stdout.write(f"{number}\n")
    text = await read(log)
    assert len(text) <= MAX_BYTES
    assert [each for each in text.split(b"\n") if len(each) == 1] == [b"2", b"3", b"4", b"5"]
