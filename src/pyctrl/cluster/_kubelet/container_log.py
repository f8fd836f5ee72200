"""Log of one run of a container on a simulated node: lines with their times, and readers that follow them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from pyctrl import _clock
from pyctrl.api import format_micro_time
from pyctrl.apiserver import PodLogOptions

__all__ = ["ContainerLog", "LogWriter"]

MAX_BYTES = 10 * 1024 * 1024  # containerLogMaxSize of the kubelet, at which it rotates a log


class _Line(NamedTuple):
    """A line with its end."""

    time: datetime
    text: bytes


class ContainerLog:
    """The output of one run of a container. Of a long one the oldest lines are dropped, as by log rotation."""

    def __init__(self) -> None:
        self._lines: deque[_Line] = deque()
        self._dropped = 0  # lines before the first one that is kept
        self._bytes = 0
        self._is_ended = False
        self._changed = asyncio.Event()
        #: The streams that the container writes.
        self.stdout, self.stderr = LogWriter(self), LogWriter(self)

    def append(self, lines: Iterable[bytes]) -> None:
        """Add lines, each with its end. Lines after the end of the log are dropped."""
        if self._is_ended:
            return
        now = _clock.now()
        for text in lines:
            self._lines.append(_Line(now, text))
            self._bytes += len(text)
        while self._bytes > MAX_BYTES:
            self._bytes -= len(self._lines.popleft().text)
            self._dropped += 1
        self._notify()

    def end(self) -> None:
        """End the log: the container has ended, or its pod was removed."""
        self.stdout.end_line()
        self.stderr.end_line()
        self._is_ended = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until_ended(self) -> None:
        """Wait until the log has ended."""
        while not self._is_ended:
            await self._changed.wait()

    async def read(self, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the lines that a client requests; with `follow`, until the log has ended."""
        position = self._dropped
        if options.tail_lines is not None:
            position = max(position, self._dropped + len(self._lines) - options.tail_lines)
        remaining = options.limit_bytes
        while True:
            data, position = self._read_from(position, options)
            if remaining is not None:
                data = data[:remaining]
                remaining -= len(data)
            if data:
                yield data
            if remaining == 0 or not options.follow:
                return
            if position == self._dropped + len(self._lines):  # no await until the wait: no line is missed
                if self._is_ended:
                    return
                await self._changed.wait()

    def _read_from(self, position: int, options: PodLogOptions) -> tuple[bytes, int]:
        """Return the lines from a position on, and the position after them."""
        new = islice(self._lines, max(0, position - self._dropped), None)
        since = options.since
        chosen = (line for line in new if since is None or line.time >= since)
        text = b"".join(_timestamp(line.time) + line.text if options.timestamps else line.text for line in chosen)
        return text, self._dropped + len(self._lines)


class LogWriter:
    """One stream of a container's output. `print` writes to it: ``print("ready", file=output.stdout)``."""

    def __init__(self, log: ContainerLog) -> None:
        self._log = log
        self._partial = b""

    def write(self, text: str | bytes) -> None:
        """Write text. A line is in the log when its end is written."""
        data = self._partial + (text.encode() if isinstance(text, str) else text)
        *lines, self._partial = data.split(b"\n")
        if lines:
            self._log.append(line + b"\n" for line in lines)

    def flush(self) -> None:
        """Do nothing, for ``print(..., flush=True)``: complete lines are in the log already."""

    def end_line(self) -> None:
        """End a line that is not complete."""
        if self._partial:
            self.write(b"\n")


def _timestamp(time: datetime) -> bytes:
    """Return a time with nanoseconds, and the space after it."""
    return format_micro_time(time)[:-1].encode() + b"000Z "
