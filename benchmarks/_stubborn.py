"""An overloaded operator for `fairness.py`: 1,000 of its objects always run again at once.

STUBBORN selects the behaviour: "none" (nothing), "zero", "negative" or "microsecond" (delays), "waits" (10 ms of
computing in each run, and a delay of zero), "fails", "writes" (each run writes the object). For the object "probe" it
prints the time from its write to its reconcile. COUNTER is a file of 8 bytes with the number of other reconciles.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from pyctrl import Manager, Reconciler, Request, Result
from pyctrl.controller import Builder
from pyctrl.kinds.core.v1 import ConfigMap

DELAYS = {"zero": timedelta(0), "negative": timedelta(seconds=-1), "microsecond": timedelta(microseconds=1)}
COMPUTING = 0.010  # seconds, of "waits"


class Stubborn(Reconciler[ConfigMap]):
    """Reconciles with the selected behaviour."""

    def __init__(self, way: str, counter: Path) -> None:
        with counter.open("r+b") as file:
            self._counts = memoryview(mmap.mmap(file.fileno(), 8)).cast("q")
        self._way = way

    async def reconcile(self, request: Request) -> Result | None:
        """Count the reconcile and run the behaviour."""
        found = await self.client.find(ConfigMap, request.key)
        if found is None:
            return None
        if request.name == "probe":
            written = found.data.get("at")
            if written is not None:
                sys.stdout.write(f"{time.monotonic() - float(written):.6f}\n")
                sys.stdout.flush()
            return None
        self._counts[0] += 1
        match self._way:
            case "none":
                return None
            case "fails":
                raise ValueError("it never works")
            case "waits":
                ends = time.thread_time() + COMPUTING
                while time.thread_time() < ends:
                    pass
                return Result.after(timedelta(0))
            case "writes":
                found.data = {"runs": str(self._counts[0])}
                await self.client.update(found)
                return None
            case way:
                return Result.after(DELAYS[way])


def add_stubborn(manager: Manager) -> None:
    """Add the controller with four workers."""
    reconciler = Stubborn(os.environ["STUBBORN"], Path(os.environ["COUNTER"]))
    Builder(manager).reconciles(ConfigMap).options(workers=4).build(reconciler)
