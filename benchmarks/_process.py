"""One peer in a process of its own, told what to do and measured from outside."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from _child import Child, Ended

LONGEST = 300.0  # seconds for one command; a peer that takes longer hangs


class PeerFailed(Exception):
    """Raised when a peer ends, hangs, or answers something else than it was asked.

    Attributes:
        numbers: what was measured before.
    """

    def __init__(self, reason: str, numbers: Mapping[str, float] | None = None) -> None:
        super().__init__(reason)
        self.numbers = dict(numbers or {})


@dataclass(frozen=True)
class Spent:
    """What one command took.

    Attributes:
        cpu: seconds, user and system, of the whole process.
        wall: seconds from the command to the mark.
        facts: what the peer said with the mark.
    """

    cpu: float
    wall: float
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Memory:
    """Bytes of a process that are resident now, and that were at most since it began or `Process.forget_peak`."""

    resident: int
    peak: int


class Process:
    """A running peer. Leaving the block ends it."""

    def __init__(self, command: list[str], directory: Path, environment: Mapping[str, str], *, is_loud: bool) -> None:
        begun = time.monotonic()
        self._child = Child(command, directory=directory, environment=environment, is_loud=is_loud)
        self._name = Path(command[0]).name
        #: What it took to start: the processor's and the wall's time until everything was loaded, and versions.
        try:
            self.started: Spent = self._mark("ready", 0.0, begun)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.__exit__()

    def cpu(self) -> float:
        """Return the seconds of CPU, user and system, that the process has used, in all its threads."""
        # The clock of another process, clock_getcpuclockid(3): to the nanosecond, where /proc/PID/stat has ticks
        return time.clock_gettime((~self._child.pid << 3) | 2)

    def memory(self) -> Memory:
        """Return what is resident."""
        status = Path(f"/proc/{self._child.pid}/status").read_text(encoding="utf-8")
        sizes = {name: int(kilobytes) * 1024 for name, kilobytes in re.findall(r"(Vm\w+):\s+(\d+) kB", status)}
        return Memory(sizes["VmRSS"], sizes["VmHWM"])

    def forget_peak(self) -> None:
        """Let the peak begin again at what is resident now."""
        Path(f"/proc/{self._child.pid}/clear_refs").write_text("5", encoding="utf-8")

    def begin(self, command: str, **arguments: object) -> _Running:
        """Tell what to do; `wait` for the result."""
        running = _Running(self, self.cpu(), time.monotonic())
        try:
            self._child.tell(command, **arguments)
        except Ended as error:
            raise PeerFailed(
                f"{self._name} ended before it was told to {command}; see what it says with --loud"
            ) from error
        return running

    def do(self, command: str, **arguments: object) -> Spent:
        """Tell what to do and wait until it is done."""
        return self.begin(command, **arguments).wait()

    def _mark(self, name: str, cpu: float, begun: float) -> Spent:
        watchdog = threading.Timer(LONGEST, self._child.kill)
        watchdog.daemon = True  # who is interrupted does not wait for it
        watchdog.start()
        try:
            facts = self._child.answer()
        except Ended as error:
            raise PeerFailed(f"{self._name} ended before it was {name}; see what it says with --loud") from error
        finally:
            watchdog.cancel()
        wall, spent = time.monotonic() - begun, self.cpu() - cpu
        if facts.get("mark") != name:
            raise PeerFailed(f"{self._name} was to say that it is {name} and said {facts}")
        return Spent(spent, wall, {key: value for key, value in facts.items() if key != "mark"})


@dataclass(frozen=True)
class _Running:
    process: Process
    cpu: float
    begun: float

    def wait(self) -> Spent:
        """Wait until the peer says that it is done."""
        return self.process._mark("done", self.cpu, self.begun)  # noqa: SLF001 - its other half
