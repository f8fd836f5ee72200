"""Shutdown of every kind of runnable in every group, for every way to stop a manager."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from math import inf
from random import Random
from typing import Any

import pytest

from pyctrl.errors import GracePeriodExceeded
from pyctrl.manager import Group, Lifecycle, Restart
from pyctrl.manager._runnables.runnable_group import CANCEL_TIMEOUT
from tests.unit.manager.runnables._endings import ENDINGS, Ending, OtherFailed, grace_of, now, outcome

BEHIND = CANCEL_TIMEOUT.total_seconds()


class Subject:
    """A runnable that records its end."""

    name = "subject"

    def __init__(self) -> None:
        self.end = "never began"

    async def run(self) -> None:
        self.end = "runs"
        try:
            await self.live()
        except asyncio.CancelledError:
            self.end = "was cancelled"
            raise
        except ValueError:
            self.end = "failed"
            raise
        else:
            self.end = "returned"

    async def live(self) -> None:
        await asyncio.Event().wait()


class Cleaning(Subject):
    """Takes two seconds to clean up."""

    async def live(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(2)


class Finishing(Subject):
    """Finishes its work in ``work`` seconds after the request to stop."""

    def __init__(self, work: float) -> None:
        super().__init__()
        self.work = work
        self.asked = asyncio.Event()

    async def live(self) -> None:
        await self.asked.wait()
        await asyncio.sleep(self.work)

    def ask_to_stop(self) -> None:
        self.asked.set()


class Rude(Subject):
    """Fails when it is requested to stop."""

    def ask_to_stop(self) -> None:
        raise ValueError("not now")


class Done(Subject):
    """Does nothing."""

    async def live(self) -> None: ...


class Sore(Subject):
    """Fails when it is cancelled."""

    async def live(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("while stopping")


class Failing(Finishing):
    """Fails with its last work."""

    async def live(self) -> None:
        await super().live()
        raise ValueError("while stopping")


class Unready(Subject):
    """Never becomes ready."""

    async def wait_until_ready(self) -> None:
        await asyncio.Event().wait()


class Stubborn(Subject):
    """Swallows every cancellation until the test releases it."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def live(self) -> None:
        await heedless(self.let_go)


class HeedlesslyUnready(Stubborn):
    """Runs normally, but `wait_until_ready` ignores its cancellation."""

    async def live(self) -> None:
        await asyncio.Event().wait()

    async def wait_until_ready(self) -> None:
        await heedless(self.let_go)


async def heedless(event: asyncio.Event) -> None:
    while not event.is_set():
        try:
            await event.wait()
        except asyncio.CancelledError:
            continue


class Down(Subject):
    """Has failed, and waits for its restart."""

    async def live(self) -> None:
        raise ValueError("connection lost")


def function() -> Callable[[], Any]:
    """Return an async function as a runnable."""

    async def subject() -> None:
        await asyncio.Event().wait()

    return subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of runnable, and its expected behaviour.

    Args:
        make: creates a runnable.
        drains: seconds from the request to stop to its end, without cancellation.
        well: how it ends without cancellation.
        cut: seconds from its final cancellation to its end.
        cut_at_once: the same, without a request to stop before.
        cleans: whether it was cancelled by the request to stop, so that a second request does not interrupt it.
        badly: how it ends after cancellation.
        says: a log line about its failure, for every way to stop.
        is_ready: whether the groups after its own start.
        restart: the restart option of `add`.
        lags: seconds at the end of the shutdown for work outside of all groups.
    """

    name: str
    make: Callable[[], Any]
    drains: float = 0
    well: str = "was cancelled"
    cut: float = 0
    cut_at_once: float = 0
    cleans: bool = False
    badly: str = "was cancelled"
    says: str = ""
    is_ready: bool = True
    restart: Restart | None = None
    lags: float = 0


LATE = "error received after stop sequence was engaged"
LEFT = "Runnable did not end when cancelled, abandoning it"

KINDS = (
    Kind(name="an async function", make=function, well=""),
    Kind(name="an object", make=Subject),
    Kind(name="one that cleans up", make=Cleaning, drains=2, cut_at_once=2, cleans=True),
    Kind(name="one that finishes", make=lambda: Finishing(20), drains=20, well="returned"),
    Kind(name="one that does not finish", make=lambda: Finishing(60), drains=60, well="returned"),
    Kind(name="one that fails when asked", make=Rude, says="Failed to ask a runnable to stop, cancelling it"),
    Kind(name="one that has ended", make=Done, well="returned"),
    Kind(name="one that fails when cancelled", make=Sore, well="failed", badly="failed", says=LATE),
    Kind(name="one that is not ready", make=Unready, is_ready=False),
    Kind(name="one that ignores it", make=Stubborn, drains=inf, cut=BEHIND, cleans=True, badly="runs", says=LEFT),
    Kind(name="one whose getting ready ignores it", make=HeedlesslyUnready, is_ready=False, says=LEFT, lags=BEHIND),
    Kind(
        name="one that is down",
        make=Down,
        well="failed",
        restart=Restart(first=timedelta(days=1), longest=timedelta(days=1)),
    ),
    Kind(name="one that can be down", make=lambda: Finishing(20), drains=20, well="returned", restart=Restart()),
)


async def live_and_end(kind: Kind, ending: Ending, group: Group) -> None:
    """Run a subject in its group with witnesses in all groups, and check how each of them ends."""
    lifecycle, journal, fail = (
        Lifecycle(grace_period=grace_of(ending), random=Random(1)),
        list[tuple[str, float]](),
        asyncio.Event(),
    )

    def witness(name: str) -> Callable[[], Any]:
        async def stand_by() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                journal.append((name, now()))

        return stand_by

    async def other() -> None:
        await fail.wait()
        raise OtherFailed

    lifecycle.add(other, Group.SERVERS)
    for each in Group:
        lifecycle.add(witness(each), each)
    subject = kind.make()
    lifecycle.add(subject, group, restart=kind.restart)
    error, took = await outcome(lifecycle, ending, fail.set)

    began = now() - took
    patience = ending.patience + (BEHIND if kind.cleans and ending.is_hurried else 0)
    is_overdue = kind.drains > patience
    lasts = kind.drains
    if is_overdue:
        lasts = patience + (kind.cut if ending.patience else kind.cut_at_once or kind.cut)
    assert (None if error is None else type(error)) is ending.outcome(overdue=is_overdue)
    if isinstance(error, GracePeriodExceeded):
        assert str(error).endswith(f": {group}/subject")
    assert took == pytest.approx(lasts + kind.lags)
    if isinstance(subject, Subject):
        assert subject.end == (kind.badly if is_overdue else kind.well)

    groups = list(Group)
    started = groups if kind.is_ready else groups[: groups.index(group) + 1]
    assert [name for name, _ in journal] == started[::-1]
    ends = dict(journal)
    for each in started:  # later groups end before it, earlier groups after it
        expected = began + (lasts if groups.index(each) < groups.index(group) else 0)
        assert ends[each] == pytest.approx(expected)
    if isinstance(subject, Stubborn):
        subject.let_go.set()
        await asyncio.sleep(0.1)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_every_kind_of_runnable_ends(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    """In each group and for each way to stop, a runnable has its time, groups keep their order, and no task is left."""
    for ending, group in product(ENDINGS, Group):
        if ending.grace is None and kind.drains == inf:
            continue  # each runnable has as long as it takes
        caplog.clear()
        try:
            await live_and_end(kind, ending, group)
            loud = {record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR}
            assert not kind.says or kind.says in loud
        except AssertionError as error:
            error.add_note(f"{kind.name}, {ending.name}, in group {group}")
            raise
    gc.collect(1)  # an unretrieved exception is reported when it is collected
