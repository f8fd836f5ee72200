"""A peer in its own process, controlled by commands and measured from outside."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from _child import Child, Ended

LONGEST = 300.0  # seconds for one command; a slower peer counts as hanging


class PeerFailed(Exception):
    """Raised when a peer ends, hangs, or sends an unexpected answer.

    Attributes:
        numbers: the measurements before the failure.
    """

    def __init__(self, reason: str, numbers: Mapping[str, float] | None = None) -> None:
        super().__init__(reason)
        self.numbers = dict(numbers or {})


@dataclass(frozen=True)
class Spent:
    """The cost of one command.

    Attributes:
        cpu: seconds, user and system, of the whole process.
        wall: seconds from the command to the mark.
        facts: the data that the peer sent with the mark.
    """

    cpu: float
    wall: float
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Memory:
    """Resident bytes of a process now, and their peak since the start or `Process.forget_peak`."""

    resident: int
    peak: int


class Process:
    """A running peer. Leaving the block ends it."""

    def __init__(self, command: list[str], directory: Path, environment: Mapping[str, str], *, is_loud: bool) -> None:
        begun = time.monotonic()
        self._child = Child(command, directory=directory, environment=environment, is_loud=is_loud)
        self._name = Path(command[0]).name
        #: The cost of the start: CPU and wall time until everything was loaded, and versions.
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
        """Return the CPU seconds, user and system, of all threads of the process."""
        # The clock of another process, clock_getcpuclockid(3): to the nanosecond, where /proc/PID/stat has ticks
        return time.clock_gettime((~self._child.pid << 3) | 2)

    def memory(self) -> Memory:
        """Return the resident memory."""
        status = Path(f"/proc/{self._child.pid}/status").read_text(encoding="utf-8")
        sizes = {name: int(kilobytes) * 1024 for name, kilobytes in re.findall(r"(Vm\w+):\s+(\d+) kB", status)}
        return Memory(sizes["VmRSS"], sizes["VmHWM"])

    def forget_peak(self) -> None:
        """Reset the peak to the current resident memory."""
        Path(f"/proc/{self._child.pid}/clear_refs").write_text("5", encoding="utf-8")

    def begin(self, command: str, **arguments: object) -> _Running:
        """Send a command; `wait` for the result."""
        running = _Running(self, self.cpu(), time.monotonic())
        try:
            self._child.tell(command, **arguments)
        except Ended as error:
            raise PeerFailed(
                f"{self._name} ended before it was told to {command}; see what it says with --loud"
            ) from error
        return running

    def do(self, command: str, **arguments: object) -> Spent:
        """Send a command and wait for the result."""
        return self.begin(command, **arguments).wait()

    def _mark(self, name: str, cpu: float, begun: float) -> Spent:
        watchdog = threading.Timer(LONGEST, self._child.kill)
        watchdog.daemon = True  # an interrupted caller does not wait for the end
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
        """Wait until the peer reports the end of a command."""
        return self.process._mark("done", self.cpu, self.begun)  # noqa: SLF001 - its other half
