"""An operator's process: started, and watched until it rests."""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path

from _loop_server import ROOT, Calls
from _peers import HERE, environment
from _process import Process

STEP, STILL = 0.2, 2.0  # seconds between two looks, and for which nothing happens before it is quiet
IDLE = 0.05  # of a core: an operator that takes less does nothing but wait


def started(command: list[str], kubeconfig: Path, told: argparse.Namespace) -> Process:
    """Start an operator with a kubeconfig. `with` ends it."""
    variables = environment()
    variables |= {"KUBECONFIG": str(kubeconfig), "PYTHONPATH": os.pathsep.join([variables["PYTHONPATH"], str(ROOT)])}
    return Process([*command, "--workers", str(told.workers)], HERE, variables, is_loud=told.loud)


async def settled(operator: Process, asks: Calls | None, calls: dict[str, int]) -> tuple[float, float]:
    """Wait until the operator asks nothing and takes no time; return the clock and its CPU when that began.

    Whatever it asks meanwhile is added to `calls`.
    """
    quiet_since, quiet_cpu = time.monotonic(), operator.cpu()
    before = quiet_cpu
    while time.monotonic() < quiet_since + STILL:
        await asyncio.sleep(STEP)
        asked, cpu = asks.take() if asks else {}, operator.cpu()
        for call, count in asked.items():
            calls[call] = calls.get(call, 0) + count
        if asked or cpu - before > IDLE * STEP:
            quiet_since, quiet_cpu = time.monotonic(), cpu
        before = cpu
    return quiet_since, quiet_cpu
