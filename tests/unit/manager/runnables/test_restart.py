"""Restarts of runnables: conditions, limits, log lines and readiness."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import cast

import pytest

from pyctrl._metrics import MetricFamily
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.errors import ConnectionFailed, ManagerError
from pyctrl.manager import Group, Lifecycle, Manager, Restart, RestartPolicy

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def now() -> float:
    return asyncio.get_running_loop().time()


class Poller:
    """Fails some time after each start, and records its starts."""

    name = "poller"

    def __init__(self, *, lives: float = 0, fails: int = 1000) -> None:
        self.lives = lives
        self.fails = fails
        self.started: list[float] = []

    async def run(self) -> None:
        self.started.append(now())
        await asyncio.sleep(self.lives)
        if len(self.started) <= self.fails:
            raise ConnectionFailed("the queue does not answer")
        await asyncio.Event().wait()


class Listener:
    """Ready a second after each start; the first runs end before that, or never become ready."""

    name = "listener"

    def __init__(self, *ends: str) -> None:
        self.ends = list(ends)
        self.is_listening = asyncio.Event()

    async def run(self) -> None:
        self.is_listening.clear()
        await asyncio.sleep(1)
        if self.ends and self.ends.pop(0) == "run":
            raise OSError("address already in use")
        self.is_listening.set()
        await asyncio.Event().wait()

    async def wait_until_ready(self) -> None:
        if self.ends and self.ends[0] == "ready":
            self.ends.pop(0)
            raise OSError("no such address")
        await self.is_listening.wait()


class Draining(Poller):
    """Finishes its current work when stopped."""

    def __init__(self, *, lives: float = 0, fails: int = 1000) -> None:
        super().__init__(lives=lives, fails=fails)
        self.asked = asyncio.Event()

    async def run(self) -> None:
        self.started.append(now())
        await self.asked.wait()
        await asyncio.sleep(10)
        raise ConnectionFailed("the last message was not taken")

    def ask_to_stop(self) -> None:
        self.asked.set()


def steady(**options: object) -> Restart:
    """The first backoff each time."""
    return Restart(first=SECOND, longest=SECOND, **options)  # type: ignore[arg-type]


async def stop_at(lifecycle: Lifecycle | Manager, moment: float) -> None:
    """Run until a given time."""
    asyncio.get_running_loop().call_at(moment, lifecycle.ask_to_stop)
    await lifecycle.run(handle_signals=False)


def make() -> Lifecycle:
    return Lifecycle(grace_period=timedelta(seconds=30), random=Random(1))


async def test_the_waits_double_up_to_a_minute_and_are_spread() -> None:
    """Backoffs are 1, 2, 4 … 60 seconds, each ±20 % at random."""
    lifecycle, poller = make(), Poller()
    lifecycle.add(poller, Group.OTHERS, restart=Restart())
    await stop_at(lifecycle, 600)

    waits = [later - earlier for earlier, later in zip(poller.started, poller.started[1:], strict=False)]
    for wait, expected in zip(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60], strict=False):
        assert 0.8 * expected <= wait <= 1.2 * expected
    assert len(set(waits)) == len(waits) >= 9


async def test_who_was_well_for_long_begins_with_the_first_wait() -> None:
    """After ten minutes without a failure the backoff starts again with the first one."""
    lifecycle, poller = make(), Poller(lives=601)
    lifecycle.add(poller, Group.OTHERS, restart=Restart())
    await stop_at(lifecycle, 3600)

    waits = [later - earlier - 601 for earlier, later in zip(poller.started, poller.started[1:], strict=False)]
    assert len(waits) == 5
    assert all(0.8 <= wait <= 1.2 for wait in waits)


async def test_without_a_restart_the_first_failure_ends_the_manager() -> None:
    """By default a runnable runs once, and its error ends the manager."""
    lifecycle, poller = make(), Poller(lives=3)
    lifecycle.add(poller, Group.OTHERS)
    with pytest.raises(ConnectionFailed):
        await stop_at(lifecycle, 600)

    assert poller.started == [0]


async def test_beyond_its_limit_its_error_ends_the_manager() -> None:
    """After three restarts the next failure ends the manager, and is raised unchanged."""
    lifecycle, poller = make(), Poller()
    lifecycle.add(poller, Group.OTHERS, restart=steady(limit=3))
    with pytest.raises(ConnectionFailed, match="the queue does not answer"):
        await stop_at(lifecycle, 600)

    assert len(poller.started) == 4


async def test_an_async_function_is_run_again() -> None:
    """A restartable runnable may be a function; a function that returns is not restarted."""
    lifecycle, started = make(), list[float]()

    async def move() -> None:
        started.append(now())
        if len(started) < 3:
            raise OSError("disk full")

    lifecycle.add(move, Group.OTHERS, restart=steady())
    await stop_at(lifecycle, 60)

    assert len(started) == 3


async def test_always_means_that_returning_is_no_end() -> None:
    """With restart "always", a runnable that returns runs again after each backoff, until the manager stops."""
    lifecycle, started = make(), list[float]()

    async def sweep() -> None:
        started.append(now())

    lifecycle.add(sweep, Group.OTHERS, restart=steady(policy=RestartPolicy.ALWAYS))
    await stop_at(lifecycle, 60)

    assert 50 <= len(started) <= 75


async def test_one_that_always_returns_reaches_its_limit_too() -> None:
    """The limit applies to every kind of end, and the error names the kind."""
    lifecycle = make()

    async def sweep() -> None: ...

    lifecycle.add(sweep, Group.OTHERS, restart=steady(policy=RestartPolicy.ALWAYS, limit=2))
    with pytest.raises(ManagerError, match=r"sweep returned after each of 2 restarts in a row"):
        await stop_at(lifecycle, 60)


@pytest.mark.parametrize("end", ["run", "ready"])
async def test_the_next_groups_wait_for_a_life_that_is_ready(end: str) -> None:
    """If running or becoming ready fails, the runnable is restarted, and the next groups wait until it is ready."""
    lifecycle = make()
    lifecycle.add(Listener(end, end), Group.WEBHOOKS, restart=steady())
    running = asyncio.create_task(stop_at(lifecycle, 60))
    await lifecycle.started.wait()

    assert 2.6 <= now() <= 5.4
    await running


async def test_waiting_ends_at_once_when_asked_to_stop() -> None:
    """A runnable in its backoff does not use up the grace period, and its last error is not raised."""
    lifecycle = make()
    for runnable in (Poller(), Draining()):
        lifecycle.add(runnable, Group.OTHERS, restart=Restart(first=MINUTE))
    draining = cast(Draining, lifecycle.members[1].runnable)
    draining.asked.set()  # the poller fails after ten seconds
    await stop_at(lifecycle, 30)

    assert now() == 30
    assert draining.started == [0]


async def test_who_fails_while_it_stops_is_not_run_again(caplog: pytest.LogCaptureFixture) -> None:
    """A runnable that fails during shutdown is not restarted; it has its time to finish, and its error is logged."""
    lifecycle, draining = make(), Draining()
    lifecycle.add(draining, Group.OTHERS, restart=Restart())
    await stop_at(lifecycle, 30)

    assert (now(), draining.started) == (40, [0])
    assert "error received after stop sequence was engaged" in caplog.messages


async def test_each_restart_is_one_line_with_the_error(caplog: pytest.LogCaptureFixture) -> None:
    """A restart is one line: name, error, count, delay; a foreign error has its traceback, once while unchanged."""
    lifecycle, texts = make(), ["no route", "no route", "refused"]

    async def connect() -> None:
        if texts:
            raise OSError(texts.pop(0))

    lifecycle.add(connect, Group.OTHERS, restart=steady())
    await stop_at(lifecycle, 60)

    lines = [record for record in caplog.records if record.getMessage() == "Runnable ended, restarting"]
    facts = [
        (line.__dict__["runnable"].rpartition(".")[2], line.__dict__["error"], line.__dict__["in a row"])
        for line in lines
    ]
    expected = ["OSError: no route", "OSError: no route", "OSError: refused"]
    assert facts == [("connect", error, number) for number, error in enumerate(expected, start=1)]
    assert [line.exc_info is not None for line in lines] == [True, False, True]


def samples(families: list[MetricFamily]) -> dict[str, object]:
    """Return the restarts by runnable."""
    [family] = [each for each in families if each.name == "pyctrl_runnable_restarts_total"]
    return {labels["runnable"]: value for labels, value in family.samples}


async def test_it_is_not_ready_while_it_is_down() -> None:
    """A runnable in its backoff fails readiness, with the reason, and is counted in the metrics until it runs again."""
    async with Manager(Config.in_process(ApiServer()), random=Random(1)) as manager:
        manager.add(Poller(fails=2), group=Group.OTHERS, restart=Restart(first=10 * SECOND))
        async with manager.running():
            await asyncio.sleep(1)
            assert manager.not_ready["poller"].startswith("ended, restarting in ")
            assert manager.not_ready["poller"].endswith("s: ConnectionFailed: the queue does not answer")
            answer = await manager.health.answer("/readyz/poller")
            assert (answer.status, "the queue does not answer" in answer.text) == (500, True)
            assert samples(list(manager.collect_metrics())) == {"poller": 0}

            await asyncio.sleep(60)
            assert manager.not_ready == {}
            assert (await manager.health.answer("/readyz/poller")).status == 200
            assert samples(list(manager.collect_metrics())) == {"poller": 2}


async def test_one_that_is_run_again_is_down_until_it_is_ready() -> None:
    """A restarted runnable still counts as restarting, with the previous error, until it is ready."""
    async with Manager(Config.in_process(ApiServer()), random=Random(1)) as manager:
        manager.add(Listener("run"), group=Group.OTHERS, restart=steady())
        running = asyncio.create_task(stop_at(manager, 60))
        await asyncio.sleep(2.5)
        why = "restarted and not ready yet, after OSError: address already in use"
        assert manager.not_ready["listener"] == why
        await manager.started.wait()
        assert manager.not_ready == {}
        await running


async def test_a_new_term_begins_without_the_failures_of_the_last() -> None:
    """Failures of elected runnables do not count in the next term."""
    lifecycle, poller = make(), Poller()
    lifecycle.elect(asyncio.Event().wait, _Open(), restarts=True)  # type: ignore[arg-type]
    lifecycle.add(poller, Group.ELECTED, restart=Restart(limit=10))
    running = asyncio.create_task(stop_at(lifecycle, 200))
    await asyncio.sleep(100)
    await lifecycle.stop_elected(timedelta(0))
    before = len(poller.started)
    await asyncio.sleep(20)
    assert len(poller.started) == before
    lifecycle.restart_elected()
    await asyncio.sleep(4)
    assert len(poller.started) == before + 3
    await running


class _Open:
    """A gate that permits every write."""

    def check(self, request: object) -> None: ...

    def sent(self, answer: object) -> None: ...


async def test_one_that_something_else_has_cancelled_has_failed() -> None:
    """A runnable whose task something else cancels has failed: the manager ends, or restarts the runnable."""
    cancelled = asyncio.get_running_loop().create_future()
    cancelled.cancel()

    async def consume() -> None:
        await cancelled

    lifecycle = make()
    lifecycle.add(consume, Group.OTHERS)
    with pytest.raises(ManagerError, match=r"consume was cancelled, but not by its manager"):
        await stop_at(lifecycle, 60)

    again, started = make(), list[float]()

    async def vanish() -> None:
        started.append(now())
        if len(started) < 3:
            cast("asyncio.Task[None]", asyncio.current_task()).cancel()
        async with asyncio.timeout(1):
            await asyncio.Event().wait()

    again.add(vanish, Group.OTHERS, restart=steady(limit=3))
    with pytest.raises(TimeoutError):
        await stop_at(again, 120)
    assert len(started) == 4


@pytest.mark.parametrize("options", [{"first": timedelta(0)}, {"healthy": -SECOND}, {"limit": -1}])
def test_waits_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    """A backoff without a pause is refused."""
    with pytest.raises(ManagerError, match="waits above zero"):
        Restart(**options)  # type: ignore[arg-type]
