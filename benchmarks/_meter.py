"""CPU time of operations, relative to one `json.loads` of the same object at the same time."""

from __future__ import annotations

import json
import resource
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

LOADS = 100  # of the object, before and after each measurement: a few milliseconds


def cpu_seconds() -> float:
    """Return the user and system time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Series:
    """The cost of one operation, each time it was measured."""

    seconds: list[float] = field(default_factory=list)  # of CPU, for one
    ratios: list[float] = field(default_factory=list)  # relative to one json.loads, measured right before and after
    walls: list[float] = field(default_factory=list)  # wall seconds for one, where they differ

    @property
    def cost(self) -> float:
        """The median CPU seconds of one operation."""
        return median(self.seconds)

    @property
    def ratio(self) -> float:
        """The median multiple of one `json.loads`."""
        return median(self.ratios)

    @property
    def wall(self) -> float:
        """The median wall seconds of one operation."""
        return median(self.walls)


@dataclass
class Meter:
    """Measures in one process. The ratios do not depend on changes of the machine's speed."""

    sample: bytes  # the object for json.loads
    series: dict[str, Series] = field(default_factory=dict)

    def unit(self) -> float:
        """Return the current CPU seconds of one `json.loads`."""
        begun = cpu_seconds()
        for _ in range(LOADS):
            json.loads(self.sample)
        return (cpu_seconds() - begun) / LOADS

    async def measure(
        self,
        name: str,
        count: int,
        action: Callable[[], Awaitable[object]],
        *,
        less: float = 0.0,
        cpu: Callable[[], Awaitable[float]] | None = None,
    ) -> float:
        """Run an action with `count` operations; record and return the CPU seconds of one.

        Args:
            less: seconds of the whole action to subtract.
            cpu: the clock for the CPU time; that of this process by default.
        """
        before = self.unit()
        begun = await cpu() if cpu else cpu_seconds()
        await action()
        spent = (await cpu() if cpu else cpu_seconds()) - begun
        unit = (before + self.unit()) / 2
        cost = max(spent - less, 0.0) / count
        series = self.series.setdefault(name, Series())
        series.seconds.append(cost)
        series.ratios.append(cost / unit)
        return cost
