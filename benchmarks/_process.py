"""One peer in a process of its own, told what to do and measured from outside."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

LONGEST = 300.0  # seconds for one command; a peer that takes longer hangs


class PeerFailed(Exception):
    """Raised when a peer ends, hangs, or answers something else than it was asked."""


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
        self._begun = time.monotonic()
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if is_loud else subprocess.DEVNULL,
            text=True,
        )
        self._name = Path(command[0]).name
        #: What it took to start: the processor's and the wall's time until everything was loaded, and versions.
        self.started: Spent = self._mark("ready", 0.0, self._begun)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.kill()  # all it has is memory, and some take their time to end
        self._process.wait()
        self._process.stdin.close()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def cpu(self) -> float:
        """Return the seconds of CPU, user and system, that the process has used, in all its threads."""
        # The clock of another process, clock_getcpuclockid(3): to the nanosecond, where /proc/PID/stat has ticks
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def memory(self) -> Memory:
        """Return what is resident."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        sizes = {name: int(kilobytes) * 1024 for name, kilobytes in re.findall(r"(Vm\w+):\s+(\d+) kB", status)}
        return Memory(sizes["VmRSS"], sizes["VmHWM"])

    def forget_peak(self) -> None:
        """Let the peak begin again at what is resident now."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="utf-8")

    def begin(self, command: str, **arguments: object) -> _Running:
        """Tell what to do; `wait` for the result."""
        running = _Running(self, self.cpu(), time.monotonic())
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": command, **arguments}) + "\n")
        self._process.stdin.flush()
        return running

    def do(self, command: str, **arguments: object) -> Spent:
        """Tell what to do and wait until it is done."""
        return self.begin(command, **arguments).wait()

    def _mark(self, name: str, cpu: float, begun: float) -> Spent:
        assert self._process.stdout is not None
        watchdog = threading.Timer(LONGEST, self._process.kill)
        watchdog.daemon = True  # who is interrupted does not wait for it
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise PeerFailed(f"{self._name} ended before it was {name}; see what it says with --loud")
        wall, spent, facts = time.monotonic() - begun, self.cpu() - cpu, json.loads(line)
        if facts.pop("mark", None) != name:
            raise PeerFailed(f"{self._name} was to say that it is {name} and said {line.strip()}")
        return Spent(spent, wall, facts)


@dataclass(frozen=True)
class _Running:
    process: Process
    cpu: float
    begun: float

    def wait(self) -> Spent:
        """Wait until the peer says that it is done."""
        return self.process._mark("done", self.cpu, self.begun)  # noqa: SLF001 - its other half
