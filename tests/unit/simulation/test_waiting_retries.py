"""Tests of the retries that a world waits for."""

from __future__ import annotations

import asyncio

from pyctrl.simulation._history import Reconciled
from pyctrl.simulation._waiting_retries import LONGEST_RETRY, PAUSE, WaitingRetries
from pyctrl.testing import run_virtual


def ended(error: str = "") -> Reconciled:
    return Reconciled(process="operator-1", controller="web", request="default/web", error=error)


def test_a_failed_reconcile_is_waited_for() -> None:
    """The world waits until a reconcile that failed has run again, also if it fails again."""

    async def main() -> float:
        loop, retries = asyncio.get_running_loop(), WaitingRetries()
        retries.note(ended("Conflict"), loop.time())
        loop.call_later(300, lambda: retries.note(ended("Conflict"), loop.time()))
        await retries.run_out()
        return loop.time()

    assert 300 <= run_virtual(main()) <= 300 + PAUSE


def test_nothing_is_waited_for_without_a_retry() -> None:
    """The world does not wait for a reconcile that succeeded, and not for one of a process that died."""

    async def main() -> float:
        loop, retries = asyncio.get_running_loop(), WaitingRetries()
        retries.note(ended("Conflict"), 0)
        retries.note(ended(), 0)
        retries.note(ended("Conflict"), 0)
        retries.forget("operator-1")
        await retries.run_out()
        return loop.time()

    assert run_virtual(main()) == 0


def test_the_wait_ends() -> None:
    """The world waits no longer than the longest backoff for a retry that never comes."""

    async def main() -> float:
        retries = WaitingRetries()
        retries.note(ended("Conflict"), 0)
        await retries.run_out()
        return asyncio.get_running_loop().time()

    assert LONGEST_RETRY <= run_virtual(main()) <= LONGEST_RETRY + PAUSE
