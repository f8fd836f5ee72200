"""The event loop watchdog: the time and frequency of its log lines, and the code that they name."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from pyctrl import LogOptions
from pyctrl._log import log_context
from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import ManagerError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager
from pyctrl.manager._watchdog import LoopWatchdog

SHORT = timedelta(milliseconds=40)


class Warned(logging.Handler):
    """Records the watchdog's lines about calls of ``wait(10)``, and sets an event that ends the call.

    Other turns are ignored: on a busy machine they may be slow enough as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(LogOptions(encoder="console").handler(io.StringIO()).formatter)
        for each in LogOptions().handler(io.StringIO()).filters:
            self.addFilter(each)
        self.lines: list[str] = []
        self.is_blocked = threading.Event()

    @property
    def first_and_last(self) -> tuple[str, str]:
        """The first record during the call, and the last one after it."""
        return self.lines[0], self.lines[-1]

    def emit(self, record: logging.LogRecord) -> None:
        if ".wait(10)" in getattr(record, "code", ""):
            self.lines.append(self.format(record))
            self.is_blocked.set()


@contextmanager
def warned() -> Iterator[Warned]:
    handler, logger = Warned(), logging.getLogger("pyctrl.manager")
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)


# --- reports ---


class Blocking(Reconciler[ConfigMap]):
    """Blocks the loop until the warning is logged; without a warning the test times out."""

    def __init__(self, seen: threading.Event) -> None:
        self.seen = seen
        self.is_done = asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        await self._helper()
        self.is_done.set()

    async def _helper(self) -> None:
        self.seen.wait(10)  # the line that blocks


@pytest.mark.real_time
async def test_a_reconcile_that_blocks_the_loop_is_named_while_it_does() -> None:
    """The warning has controller, object, reconcile, the program's line, the innermost line, and the Lease at risk."""
    config = Config.in_process(ApiServer())
    with warned() as lines:
        election = LeaderElection(name="watchdog", namespace="default")
        async with Client.connect(config) as client:
            await client.create(ConfigMap(metadata=ObjectMeta(name="web", namespace="default")))
            async with Manager(config, blocked_loop_warning=SHORT, leader_election=election) as manager:
                reconciler = Blocking(lines.is_blocked)
                Builder(manager).reconciles(ConfigMap).build(reconciler)
                async with manager.running():
                    await reconciler.is_done.wait()
                    await asyncio.sleep(0)
        assert manager.loop_watchdog is not None
        assert manager.loop_watchdog.count >= 1
        assert manager.loop_watchdog.total >= SHORT
    blocked, ended = lines.first_and_last
    assert "WARNING pyctrl.manager: Event loop is blocked, the Lease cannot be renewed" in blocked
    for line in lines.lines:
        assert re.search(r'at="tests/unit/manager/test_watchdog\.py:\d+ in _helper"', line)
        assert 'code="self.seen.wait(10)  # the line that blocks"' in line
        assert re.search(r'innermost=".*threading\.py:\d+ in wait"', line)
        assert re.search(r"object=default/web controller=configmap reconcileID=\w{8}", line)
    assert "lease=default/watchdog" in blocked
    assert re.search(r"leadership_lost_in=\d+(\.\d+)?s", blocked)
    assert "Event loop runs again" in ended


@pytest.mark.real_time
async def test_work_outside_of_a_reconcile_is_named_by_its_task() -> None:
    """The warning names the task, without object or Lease; a nested task has the context of its parent."""
    watchdog = LoopWatchdog(SHORT)
    with warned() as lines, watchdog.watching():

        async def block() -> None:
            lines.is_blocked.wait(10)

        await asyncio.create_task(block(), name="nightly")
        await asyncio.sleep(0)
        blocked, ended = lines.first_and_last
        assert "Event loop is blocked  blocked=" in blocked
        assert "task=nightly" in blocked
        assert "lease" not in blocked
        assert "Event loop runs again" in ended
        lines.lines.clear()
        lines.is_blocked.clear()
        with log_context(controller="podset", reconcileID="993fcadd-6046"):
            await asyncio.create_task(block())
            await asyncio.sleep(0)
        assert "controller=podset reconcileID=993fcadd" in lines.lines[0]
        assert "task=" not in lines.lines[0]


@pytest.mark.real_time
async def test_watchdogs_of_one_loop_share_a_thread_that_ends_with_them() -> None:
    """Several managers in one loop report a blockage once, and each counts it."""

    def threads() -> list[threading.Thread]:
        return [each for each in threading.enumerate() if each.name == "pyctrl-loop-watchdog"]

    one, other = LoopWatchdog(SHORT), LoopWatchdog(timedelta(days=1))
    with one.watching(), other.watching(), warned() as lines:
        (thread,) = threads()
        lines.is_blocked.wait(10)
        await asyncio.sleep(0)
    assert sum("runs again" in line for line in lines.lines) == 1
    assert one.count == other.count >= 1
    thread.join(10)
    assert threads() == []


async def test_in_virtual_time_nothing_is_watched() -> None:
    """In virtual time the watchdog starts no thread."""
    before = threading.active_count()
    with LoopWatchdog(SHORT).watching():
        assert threading.active_count() == before


async def test_it_can_be_switched_off() -> None:
    """A manager without a threshold has no watchdog."""
    async with Manager(Config.in_process(ApiServer()), blocked_loop_warning=None) as manager:
        assert manager.loop_watchdog is None
    with pytest.raises(ManagerError, match="blocked_loop_warning must be above zero"):
        Manager(Config.in_process(ApiServer()), blocked_loop_warning=timedelta(0))
