"""Renewal of managed certificates without a refused request, over a year and through failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from pyctrl.api import Key
from pyctrl.errors import InternalError
from pyctrl.webhook import Lifetimes
from pyctrl.webhook._certificates.ca_injection import CONFIGURATIONS
from pyctrl.webhook._certificates.keys import Keys, split_bundle
from tests.unit.webhook._replicas import KEY, SECRET, Site, now, running

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MINUTES_OF_A_YEAR = 525_600
SKEW = timedelta(minutes=1)
#: Lifetimes of a year scaled to nine hours: renewal after 80 minutes, of the authority after six hours.
SHORT = Lifetimes(authority=timedelta(hours=9), certificate=timedelta(hours=2), settling=timedelta(minutes=30))


async def until(seconds: float) -> None:
    await asyncio.sleep(seconds - now())


async def delete_secret(site: Site) -> None:
    await site.client.delete(await site.client.get(SECRET, KEY))


def cut(site: Site, is_cut: bool, *whom: str) -> None:
    """Disconnect some or all replicas from the API server, which still calls them."""
    for name in whom or site.replicas:
        site.replicas[name].network.is_cut = is_cut


@asynccontextmanager
async def asked_at_every_change(site: Site) -> AsyncIterator[None]:
    """Call the webhooks, with real handshakes, after each change of a certificate or a bundle."""

    async def ask() -> None:
        while True:
            await site.changed.wait()
            site.changed.clear()
            await site.ask()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask())
        yield
        asking.cancel()


def assert_none_refused(site: Site, since: float, questions: int) -> None:
    """Check that no request is refused, for any target and replica, with clocks up to a minute apart.

    First for every period between two changes, then for a request every minute.
    """
    skew = SKEW.total_seconds()
    assert list(site.history.gaps(since, now(), skew=skew)) == []
    answered = [is_answered for _, is_answered in site.history.questions(since, questions, every=MINUTE, skew=skew)]
    assert (len(answered), all(answered)) == (questions, True)


async def live_a_year(site: Site, begin: float) -> None:
    """Simulate the events of a year; at any time at least one replica serves."""
    names = (f"replica-{number}" for number in count())

    async def replace(*, by_force: bool) -> None:
        gone = site.leader or next(iter(site.replicas))
        await site.start(next(names), SKEW if by_force else -SKEW)
        await (site.kill(gone) if by_force else site.stop(gone))

    for day in range(7, 380, 7):
        await until(begin + day * DAY)
        await site.ask_one()
        if day % 28 == 0:
            await replace(by_force=day % 56 == 0)
        if day == 56:  # first renewal on day 60, while no replica reaches the API server for ten hours
            await until(begin + 59.8 * DAY)
            cut(site, True)
            await until(begin + 60.2 * DAY)
            cut(site, False)
        if day == 119:  # one replica sees the second one three weeks late
            late = next(name for name in site.replicas if name != site.leader)
            cut(site, True, late)
            await until(begin + 139.9 * DAY)
            cut(site, False, late)
        if day == 161:  # the Secret is lost, and written again
            await delete_secret(site)
        if day == 238:  # the new authority comes on day 243; the leader dies when only the Secret has it
            network = site.replicas[site.leader].network
            network.writes_left = 1
            while not network.is_cut:
                await asyncio.sleep(HOUR)
            await replace(by_force=True)
        if day == 301:  # the Secret is lost, and a new replica creates another one before the leader notices
            await delete_secret(site)
            await replace(by_force=False)


@pytest.mark.slow("a year of two replicas, some hundred TLS handshakes, half a million questions")
@pytest.mark.timeout(120)
@pytest.mark.virtual_time(limit=timedelta(days=500))
async def test_a_year_of_requests_none_refused() -> None:
    """In a year of requests every replica's certificate is trusted by every API server.

    Certificates, authority, leader and replicas change. Each of these fails once: the API server, the connection
    of a replica, a leader during a renewal, the Secret. Clocks differ by two minutes.
    """
    async with running(interval=timedelta(hours=6), poll=timedelta(hours=3), lease=timedelta(days=6)) as site:
        await site.start("a", -SKEW)
        await site.start("b", SKEW)
        begin = now()
        async with asked_at_every_change(site):
            await live_a_year(site, begin)
        assert_none_refused(site, begin, MINUTES_OF_A_YEAR)

    values = {(what, value) for at, what, _, value in site.history.changes if at > begin}
    assert (
        len([value for what, value in values if what == "shown" and value]) >= 7
    )  # every sixty days, and after each loss
    trusted = [len(split_bundle(value)) for what, value in values if what == "trusted" and value]
    assert sorted(trusted) == [2, 2, 3]  # the second authority; the third; all but the first, which has expired
    assert site.handshakes > 400


@pytest.mark.slow("half a day of everything every minute")
@pytest.mark.virtual_time
async def test_no_request_is_refused_at_the_pace_of_production() -> None:
    """Checked every minute, and shown within ten seconds, certificates of two hours are never refused."""
    async with running(SHORT) as site:
        await site.start("a", -SKEW)
        await site.start("b", SKEW)
        begin = now()
        async with asked_at_every_change(site):
            await until(begin + 7 * HOUR)
        assert_none_refused(site, begin, 7 * 60)

    shown = {value for _, what, _, value in site.history.changes if what == "shown" and value}
    assert len(shown) == 6


@pytest.mark.parametrize("writes", range(6))
async def test_a_leader_may_die_between_any_steps_of_a_renewal(writes: int) -> None:
    """A leader may fail at any step of a renewal: before the Secret, between targets, before or after signing."""
    interval, poll, lease = timedelta(minutes=10), timedelta(minutes=5), timedelta(minutes=24)
    async with running(SHORT, interval=interval, poll=poll, lease=lease) as site:
        await site.start("a")
        await site.start("b")
        begin = now()
        await until(begin + 5.85 * HOUR)  # the authority is renewed after six hours less five minutes
        leader = site.leader
        network = site.replicas[leader].network
        network.writes_left = writes
        while not network.is_cut:
            await asyncio.sleep(MINUTE)
        await site.kill(leader)
        await until(begin + 10 * HOUR)
        assert_none_refused(site, begin, 10 * 60)
        keys = Keys.from_data((await site.client.get(SECRET, KEY))["data"])

    assert keys is not None
    assert len(keys.authorities) == 1  # the second one: the first has expired and is removed


async def test_an_emptied_bundle_is_put_back_within_an_interval() -> None:
    """An emptied CA bundle is restored within one interval; only requests in that interval are refused."""
    async with running() as site:
        await site.start("a")
        begin = now()
        await asyncio.sleep(HOUR)
        spoilt = await site.client.get(CONFIGURATIONS[1], Key("", "sets"))
        spoilt["webhooks"][0]["clientConfig"]["caBundle"] = ""
        await site.client.update(spoilt)
        at = now()
        with pytest.raises(InternalError, match="certificate verify failed"):
            await site.ask()
        await asyncio.sleep(MINUTE)
        await site.ask()
        refused = [moment for moment, ok in site.history.questions(begin, 7200, every=1, skew=0) if not ok]

    assert at <= refused[0] <= refused[-1] <= at + MINUTE


async def test_a_lost_secret_costs_nothing() -> None:
    """If the Secret is deleted, the leader rewrites it or a new replica creates another; no request is refused."""
    async with running() as site:
        first = await site.start("a")
        begin, before = now(), first.certificates.keys
        async with asked_at_every_change(site):
            await delete_secret(site)
            await asyncio.sleep(5 * MINUTE)
            assert first.certificates.keys == before
            await delete_secret(site)
            second = await site.start("b")
            await asyncio.sleep(5 * MINUTE)
            assert first.certificates.keys != second.certificates.keys  # not before the new authority is known
            await asyncio.sleep(HOUR)
            assert first.certificates.keys == second.certificates.keys
        assert_none_refused(site, begin, 70)


async def test_an_older_secret_costs_nothing() -> None:
    """After a restore of an older Secret its certificate is shown, and no request is refused."""
    async with running(SHORT, interval=timedelta(minutes=10), poll=timedelta(minutes=5)) as site:
        await site.start("a")
        await site.start("b")
        begin = now()
        async with asked_at_every_change(site):
            backup = await site.client.get(SECRET, KEY)
            await until(begin + 6.6 * HOUR)  # of another authority since 0.1 h
            found = await site.client.get(SECRET, KEY)
            assert found["data"]["ca.key"] != backup["data"]["ca.key"]
            found["data"] = backup["data"]
            await site.client.update(found)
            await until(begin + 7 * HOUR)
        assert_none_refused(site, begin, 7 * 60)
