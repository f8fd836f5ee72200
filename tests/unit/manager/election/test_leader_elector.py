"""One replica and its Lease, request by request, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest

from pyctrl.api import GroupVersionKind, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, MergePatch
from pyctrl.errors import LeadershipLost
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import OnLoss
from pyctrl.testing import Answered, AnswerLost, ConnectionRefused, Delayed, Rule
from tests.unit.manager.election._election import KEY, Replica, now, running, spec


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


EVENT = GroupVersionKind("events.k8s.io", "v1", "Event")


# --- acquire and renew ---


async def test_the_first_takes_it_at_once_and_renews_every_two_seconds(server: ApiServer, admin: Client) -> None:
    """The first candidate sends a GET and a POST, then a PUT every two seconds that changes only the renew time."""
    one = Replica(server, "one")
    async with running(one):
        assert await one.leads_at() == 0
        first = await spec(admin)
        await asyncio.sleep(21)
        last = await spec(admin)

    assert one.requests[:12] == ["GET op", "POST leases", *["PUT op"] * 10]
    assert last.renew_time is not None
    assert first.renew_time is not None
    assert last.renew_time - first.renew_time == timedelta(seconds=20)
    assert (last.acquire_time, last.lease_transitions, last.holder_identity) == (first.acquire_time, 0, "one")
    assert one.elector.statistics().renewals == 10


async def test_it_is_given_up_at_the_end(server: ApiServer, admin: Client) -> None:
    """On stop the Lease is released as in client-go, without holder and for one second; Events record both changes."""
    one = Replica(server, "one")
    async with asyncio.TaskGroup() as group:
        group.create_task(one.events.run())
        async with running(one):
            await one.leads_at()
            await asyncio.sleep(5)
        one.events.ask_to_stop()

    released = await spec(admin)
    assert (released.holder_identity, released.lease_duration_seconds, released.lease_transitions) == ("", 1, 0)
    assert not one.leads()
    told = [event.to_wire() for event in await admin.list(EVENT)]
    assert [event["note"] for event in told] == ["one became leader", "one stopped leading"]
    assert {(event["reason"], event["regarding"]["kind"]) for event in told} == {("LeaderElection", "Lease")}


async def test_it_is_left_to_run_out_where_that_is_asked_for(server: ApiServer, admin: Client) -> None:
    """Without release_on_stop the next candidate waits for the lease duration."""
    one, two = Replica(server, "one", release_on_stop=False), Replica(server, "two")
    async with running(one):
        await one.leads_at()
    assert (await spec(admin)).holder_identity == "one"
    async with running(two):
        assert 15 <= await two.leads_at() < 15.2


async def test_it_is_not_given_up_while_elected_work_still_runs(
    server: ApiServer, admin: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """The Lease is not released while elected work ignores its cancellation: the work may still act."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.elector.ask_to_stop()
        await one.end()
        assert (await spec(admin)).holder_identity == "one"
    assert "Not releasing lease, leader election runnables are still running" in caplog.messages


@pytest.mark.parametrize(("seconds", "holder"), [(1, ""), (5, "one")])
async def test_it_is_given_up_once_writes_are_answered(
    server: ApiServer, admin: Client, caplog: pytest.LogCaptureFixture, seconds: int, holder: str
) -> None:
    """The Lease is released when the writes of elected work are answered; if the answers do not come, it expires."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        one.elector.sent(write := asyncio.create_task(asyncio.sleep(seconds)))
    assert write.done() == (not holder)
    assert (await spec(admin)).holder_identity == holder
    assert ("Not releasing lease, the server has not answered all writes" in caplog.messages) == bool(holder)
    await write


async def test_a_standby_that_stops_sends_nothing(server: ApiServer) -> None:
    """A standby that stops sends no request."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with running(one):
        await one.leads_at()
        async with running(two):
            await asyncio.sleep(10)
            sent = len(two.requests)
        assert len(two.requests) == sent


async def test_the_next_one_leads_soon_after_a_release(server: ApiServer, admin: Client) -> None:
    """A standby retries every 2 to 4.4 seconds and takes a released Lease, with a transition."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with running(two):
        async with running(one):
            await asyncio.sleep(0)
            two.network.add(Rule(ConnectionRefused(), times=1))  # the first one leads
            await one.leads_at()
            await asyncio.sleep(60)
        released = now()
        assert await two.leads_at() - released < 4.4
        assert (await spec(admin)).lease_transitions == 1


async def test_two_at_the_same_moment(server: ApiServer, admin: Client) -> None:
    """Of two candidates that find no Lease, one creates it; the other gets AlreadyExists and waits."""
    one, two = Replica(server, "one"), Replica(server, "two")
    slow = Rule(Delayed(timedelta(seconds=1)), method="GET")
    one.network.add(slow)
    two.network.add(slow)
    async with running(one, two):
        await asyncio.sleep(10)
        assert [one.leads(), two.leads()].count(True) == 1
        assert (await spec(admin)).holder_identity == ("one" if one.leads() else "two")


async def test_three_take_turns(server: ApiServer, admin: Client) -> None:
    """When a leader stops, exactly one of the other replicas follows."""
    names = {name: Replica(server, name) for name in ("one", "two", "three")}
    async with running(*names.values()):
        for transitions in range(3):
            await asyncio.sleep(30)
            leading = [name for name, replica in names.items() if replica.leads()]
            held = await spec(admin)
            assert (leading, held.lease_transitions) == ([held.holder_identity], transitions)
            names.pop(leading[0]).stop()


# --- losing the Lease ---


async def test_work_ends_before_another_may_begin(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """Without network, work is stopped 10 s after the last renewal, with 2.5 s to end; the next leads after 15 s."""
    one, two = Replica(server, "one"), Replica(server, "two")
    one.work.takes = 100
    async with running(one):
        await one.leads_at()
        async with running(two):
            await asyncio.sleep(21)
            one.cut()  # the last renewal was at 20
            with pytest.raises(LeadershipLost, match=r"default/op was not renewed within 10 s: .*no connection"):
                await one.end()
            assert one.work.journal == [(0, "begins"), (32.5, "ends")]
            assert one.work.patience == [2.5]
            assert 35 <= await two.leads_at() < 39.5  # observed up to 4.4 later, and then 15 of lease duration
    assert "Failed to renew lease" in caplog.messages


async def test_it_contends_again_where_that_is_asked_for(server: ApiServer) -> None:
    """A candidate that contends again leads with the same identity once the network is back."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with running(one):
        await one.leads_at()
        one.cut()
        await asyncio.sleep(60)
        assert not one.leads()
        one.network.clear()
        await asyncio.sleep(5)
        assert one.leads()
        assert [what for _, what in one.work.journal] == ["begins", "ends", "begins"]
        statistics = one.elector.statistics()
        assert (statistics.terms, statistics.losses) == (2, 1)


async def test_it_does_not_contend_again_beside_what_cannot_be_stopped(server: ApiServer) -> None:
    """A candidate does not contend again while work ignores its cancellation: the work would run twice."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    one.work.ignores_cancel = True
    async with running(one):
        await one.leads_at()
        one.cut()
        with pytest.raises(LeadershipLost):
            await one.end()


async def test_who_sees_another_holder_stops_at_once(server: ApiServer, admin: Client) -> None:
    """A leader that reads another holder in the Lease stops its work at once."""
    one = Replica(server, "one")
    one.work.takes = 100
    async with running(one):
        await one.leads_at()
        await asyncio.sleep(3)
        await admin.patch(Lease, KEY, MergePatch({"spec": {"holderIdentity": "usurper"}}))
        with pytest.raises(LeadershipLost, match="usurper has acquired default/op"):
            await one.end()
        assert one.work.journal == [(0, "begins"), (4, "ends")]
        assert (await spec(admin)).holder_identity == "usurper"


async def test_a_short_outage_is_no_loss(server: ApiServer) -> None:
    """Refused requests do not stop the work while a try is left before the renew deadline."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        for fault in (ConnectionRefused(), Answered.unavailable(), Answered.conflict(), AnswerLost()):
            one.network.add(Rule(fault, times=None))
            await asyncio.sleep(6.9)  # 10 without the 2 between renewals, and 1 before the end
            one.network.clear()
            await asyncio.sleep(8)
        assert one.work.journal == [(0, "begins")]
        assert one.elector.statistics().losses == 0


# --- failures of requests ---


async def test_time_counts_from_when_a_renewal_was_sent(server: ApiServer) -> None:
    """A lease counts from the sending of its renewal, which the server may store four seconds before its response."""
    one = Replica(server, "one")
    one.work.takes = 100
    async with running(one):
        await one.leads_at()
        one.network.add(
            Rule(Delayed(timedelta(seconds=4)), method="PUT"), Rule(ConnectionRefused(), method="PUT", times=None)
        )
        with pytest.raises(LeadershipLost):
            await one.end()
        assert one.work.journal[-1] == (14.5, "ends")  # sent at 2, answered at 6, and never again


async def test_a_lease_that_was_deleted(server: ApiServer, admin: Client) -> None:
    """A leader creates a deleted Lease again and continues; a standby that has seen the Lease waits."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with running(one):
        await one.leads_at()
        async with running(two):
            await asyncio.sleep(21)
            await admin.delete(Lease, KEY)
            await asyncio.sleep(21)
            assert (one.leads(), two.leads()) == (True, False)
            assert (await spec(admin)).holder_identity == "one"
    assert one.work.journal == [(0, "begins")]


async def test_a_lease_that_was_edited(server: ApiServer, admin: Client) -> None:
    """A leader corrects its own fields in the Lease."""
    one = Replica(server, "one")
    async with running(one):
        await one.leads_at()
        patch = MergePatch({"metadata": {"labels": {"team": "x"}}, "spec": {"leaseDurationSeconds": 600}})
        await admin.patch(Lease, KEY, patch)
        await asyncio.sleep(3)
        lease = await admin.get(Lease, KEY)
        assert (lease.spec.lease_duration_seconds, lease.metadata.labels) == (15, {"team": "x"})
        assert one.elector.statistics().slow_paths == 1


async def test_a_holder_written_by_go_is_left_its_time(server: ApiServer, admin: Client) -> None:
    """A record by client-go that is renewed twice is taken 15 seconds after the last change."""
    theirs = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "op", "namespace": "default"},
        "spec": {
            "holderIdentity": "podset-7c9_0b0c7b3e-7d1f-4a0e-9d0f-4a3f6f1b2c3d",
            "leaseDurationSeconds": 15,
            "acquireTime": "2019-01-01T00:00:00.000000Z",
            "renewTime": "2019-01-01T00:00:00.000000Z",
            "leaseTransitions": 7,
        },
    }
    await admin.create(Unstructured(theirs))
    one = Replica(server, "one")
    async with running(one):
        for second in (2, 4):
            await asyncio.sleep(2)
            renewal = MergePatch({"spec": {"renewTime": f"2019-01-01T00:00:0{second}.000000Z"}})
            await admin.patch(Lease, KEY, renewal)
        assert 19 <= await one.leads_at() < 24
        held = await spec(admin)
        assert (held.holder_identity, held.lease_transitions) == ("one", 8)


async def test_a_lease_without_anything_in_it_is_free(server: ApiServer, admin: Client) -> None:
    """An empty Lease, as some charts create, may be taken; the operator needs no permission to create it."""
    await admin.create(Lease(metadata=ObjectMeta(name="op", namespace="default")))
    one = Replica(server, "one")
    async with running(one):
        assert await one.leads_at() == 0
        assert "POST leases" not in one.requests


async def test_the_statistics(server: ApiServer) -> None:
    """The statistics have the leader, the time since the last renewal, and the number of transitions."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with running(one):
        await one.leads_at()
        async with running(two):
            await asyncio.sleep(5)
            leader, standby = one.elector.statistics(), two.elector.statistics()
    assert (leader.is_leader, leader.holder, leader.since_renewal) == (True, "one", timedelta(seconds=1))
    assert (standby.is_leader, standby.holder, standby.since_renewal, standby.terms) == (False, "one", None, 0)
