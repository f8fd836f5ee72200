"""Trace of a history with virtual times: printed on failure, and compared between two runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from random import Random

from pyctrl.client import HttpRequest
from pyctrl.testing import Fault, RandomFaults

SHOWN = 400  # lines of a failing history that are printed


class Trace:
    """The lines of one history, and its requests per second that changed nothing."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        #: By second of virtual time: what the operator read, and what it tried in vain. Who spins does more and more.
        self.vain_requests: Counter[int] = Counter()

    def say(self, text: str) -> None:
        """Add a line."""
        self.lines.append(f"{asyncio.get_running_loop().time():10.3f}  {text}")

    def count_vain_request(self) -> None:
        """Count a request that changed nothing."""
        self.vain_requests[int(asyncio.get_running_loop().time())] += 1

    def busiest(self, seconds: int) -> int:
        """Return the maximum number of such requests in a period."""
        return max(
            (sum(self.vain_requests[second + i] for i in range(seconds)) for second in self.vain_requests), default=0
        )

    def shown(self) -> Iterator[str]:
        """Return the end of the trace for a failure message."""
        if len(self.lines) > SHOWN:
            yield f"… {len(self.lines) - SHOWN} lines before these"
        yield from self.lines[-SHOWN:]


class TracedRandomFaults(RandomFaults):
    """Faults that are recorded in the trace; none at first."""

    def __init__(self, random: Random, trace: Trace) -> None:
        super().__init__(random, share=0.0)
        self._trace = trace

    def draw(self, request: HttpRequest, *, streamed: bool) -> Fault | None:
        """Return the fault of a request, or None."""
        fault = super().draw(request, streamed=streamed)
        if fault is not None:
            self._trace.say(f"fault {fault} befalls {request}")
        return fault
