"""Requests for the Leases of a ring that conflict, fail or get no answer, against the embedded server."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import AlreadyExists, ManagerError, StreamBroken
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.ring_leases import LeaseGone, RingLeases
from pyctrl.testing import AnswerLost, ConnectionRefused, Delayed, FaultyTransport, Rule, Silent
from tests.unit.manager.sharding._members import member, state

OP_A = Key("default", "op-a")
ME = member("op-a")


class Replica:
    """A replica's Leases, behind a network of its own."""

    def __init__(self, server: ApiServer, name: str = "op-a", **options: Any) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        sharding = Sharding(name="op", namespace="default", **options)
        self.leases = RingLeases(Client(self.network, random=Random(1)), sharding, Key("default", name))

    @property
    def requests(self) -> list[str]:
        return [request.method for request in self.network.requests]


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


@pytest.fixture
def one(server: ApiServer) -> Replica:
    return Replica(server)


async def edit(admin: Client, **labels: str) -> None:
    """Change the labels of the Lease, as another client does."""
    lease = await admin.get(Lease, OP_A)
    lease.metadata.labels = {**lease.metadata.labels, **labels}
    await admin.update(lease)


async def stored(admin: Client) -> MemberState:
    """What the Lease on the server says."""
    read = MemberState.of(await admin.get(Lease, OP_A), 15)
    assert read is not None
    return read


# --- begin ---


async def test_a_term_begins_with_a_lease_that_has_the_labels_of_the_ring(server: ApiServer, admin: Client) -> None:
    """A replica creates its Lease, by whose label the others find it."""
    one = Replica(server, labels={"team": "red"})
    await one.leases.begin(state(ME), 5)
    lease = await admin.get(Lease, OP_A)

    assert lease.metadata.labels == {"team": "red", "sharding.pyctrl.io/ring": "op"}
    assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == ("op-a", 15)
    assert lease.spec.lease_transitions == 0


async def test_the_time_of_a_term_is_that_of_its_request(server: ApiServer) -> None:
    """The moment of a write is when it was sent, not when it was answered."""
    one = Replica(server)
    one.network.add(Rule(Delayed(timedelta(seconds=3)), times=None))
    began = await one.leases.begin(state(ME), 5)
    renewed = await one.leases.renew(state(ME), 5)

    assert (began.loop, renewed.loop) == (0, 3)


async def test_a_second_term_writes_the_same_lease_as_another_renewal(one: Replica, admin: Client) -> None:
    """A new term at the same time is another renewal for those who read the Lease."""
    await one.leases.begin(state(ME), 5)
    first = await stored(admin)
    await one.leases.begin(state(ME), 5)

    assert not first.is_same_renewal(await stored(admin))
    assert one.requests == ["POST", "GET", "PUT"]


async def test_a_lease_whose_creation_had_no_answer_is_found(one: Replica, admin: Client) -> None:
    """After a lost answer to the first write the next try updates the Lease that exists."""
    one.network.add(Rule(AnswerLost(), method="POST"))
    with pytest.raises(StreamBroken):
        await one.leases.begin(state(ME), 5)
    assert one.leases.may_exist

    await one.leases.begin(state(member("op-a", term="2")), 5)
    assert (await stored(admin)).member.term == "2"


async def test_a_lease_that_exists_already_is_found(one: Replica, admin: Client) -> None:
    """A creation that is refused because the Lease exists fails once, and the next try updates it."""
    await admin.create(Lease(metadata=ObjectMeta(name="op-a", namespace="default"), spec=LeaseSpec()))
    with pytest.raises(AlreadyExists):
        await one.leases.begin(state(ME), 5)

    await one.leases.begin(state(ME), 5)
    assert (await stored(admin)).holder == "op-a"


async def test_a_lease_that_was_deleted_is_created_in_the_next_term(one: Replica, admin: Client) -> None:
    """A term after the Lease was deleted begins with a new one."""
    await one.leases.begin(state(ME), 5)
    await admin.delete(Lease, OP_A)
    await one.leases.begin(state(member("op-a", term="2")), 5)

    assert (await stored(admin)).member.term == "2"


# --- renew ---


async def test_the_edits_of_others_are_kept(one: Replica, admin: Client) -> None:
    """A renewal that conflicts with an edit reads the Lease, keeps the edit, and succeeds."""
    await one.leases.begin(state(ME), 5)
    await edit(admin, edited="yes")
    await one.leases.renew(state(ME, acknowledged="b-1"), 5)

    assert (await admin.get(Lease, OP_A)).metadata.labels["edited"] == "yes"
    assert (await stored(admin)).acknowledged == {"b-1"}
    assert one.requests == ["POST", "PUT", "GET", "PUT"]


async def test_a_renewal_after_a_lost_answer_succeeds(one: Replica, admin: Client) -> None:
    """A replica that has not heard of its own renewal finds it, and renews again."""
    await one.leases.begin(state(ME), 5)
    one.network.add(Rule(AnswerLost(), method="PUT"))
    with pytest.raises(StreamBroken):
        await one.leases.renew(state(ME, acknowledged="b-1"), 5)

    await one.leases.renew(state(ME, acknowledged="c-1"), 5)
    assert (await stored(admin)).acknowledged == {"c-1"}


async def test_a_deleted_lease_is_not_renewed(one: Replica, admin: Client) -> None:
    """A replica whose Lease is gone has lost its term, as others may have joined without knowing it."""
    await one.leases.begin(state(ME), 5)
    await admin.delete(Lease, OP_A)
    with pytest.raises(LeaseGone, match="the lease default/op-a was deleted"):
        await one.leases.renew(state(ME), 5)

    assert await admin.find(Lease, OP_A) is None


async def test_a_lease_that_was_replaced_is_not_renewed(one: Replica, admin: Client) -> None:
    """A Lease that was deleted and created again, with the same holder, is another one."""
    await one.leases.begin(state(ME), 5)
    copy = await admin.get(Lease, OP_A)
    await admin.delete(Lease, OP_A)
    copy.metadata.uid, copy.metadata.resource_version = "", ""
    await admin.create(copy)
    with pytest.raises(LeaseGone, match="was deleted"):
        await one.leases.renew(state(ME), 5)


async def test_a_lease_that_another_replica_has_released_is_not_renewed(server: ApiServer, one: Replica) -> None:
    """A replica that stood still notices that others believe that it has ended."""
    await one.leases.begin(state(ME), 5)
    other = Replica(server, "op-b")
    (seen,) = (await other.leases.list(5)).states
    await other.leases.release_for(seen)
    with pytest.raises(LeaseGone, match="had expired, and was released by another replica"):
        await one.leases.renew(state(ME), 5)


async def test_a_request_without_an_answer_ends_in_time(one: Replica) -> None:
    """A renewal waits no longer than it may."""
    await one.leases.begin(state(ME), 5)
    one.network.add(Rule(Silent(), times=None))
    with pytest.raises(TimeoutError):
        await one.leases.renew(state(ME), 4)


# --- list ---


async def test_the_leases_of_the_ring_are_listed(server: ApiServer, one: Replica, admin: Client) -> None:
    """Only the Leases of the ring are listed, with the times of request and answer; others are left out."""
    await one.leases.begin(state(ME), 5)
    await Replica(server, "op-b").leases.begin(state(member("op-b")), 5)
    await admin.create(Lease(metadata=ObjectMeta(name="op", namespace="default"), spec=LeaseSpec()))
    labels = {"sharding.pyctrl.io/ring": "op"}
    await admin.create(Lease(metadata=ObjectMeta(name="empty", namespace="default", labels=labels), spec=LeaseSpec()))
    one.network.add(Rule(Delayed(timedelta(seconds=3)), times=None))
    listed = await one.leases.list(5)

    assert sorted(each.member.lease for each in listed.states) == ["op-a", "op-b"]
    assert (listed.sent, listed.received) == (0, 3)


async def test_a_replica_with_other_slots_is_an_error(one: Replica, admin: Client) -> None:
    """A replica of a version with another number of slots makes the list fail."""
    await one.leases.begin(state(ME), 5)
    lease = await admin.get(Lease, OP_A)
    lease.metadata.annotations = {**lease.metadata.annotations, "sharding.pyctrl.io/slots": "64"}
    await admin.update(lease)
    with pytest.raises(ManagerError, match="has 64 slots"):
        await one.leases.list(5)


# --- the end of a replica ---


async def test_a_released_lease_has_no_holder(one: Replica, admin: Client) -> None:
    """A replica that stops releases its Lease, also after an edit."""
    await one.leases.begin(state(ME), 5)
    await edit(admin, edited="yes")
    await one.leases.release(state(ME, holder=""))

    assert (await stored(admin)).is_released
    assert not one.leases.may_exist


async def test_a_release_that_fails_is_logged(one: Replica, caplog: pytest.LogCaptureFixture) -> None:
    """A replica that cannot release its Lease ends without an error, and says why."""
    await one.leases.begin(state(ME), 5)
    one.network.add(Rule(Silent(), times=None))
    await one.leases.release(state(ME, holder=""))

    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [
        "Failed to release lease"
    ]


async def test_the_lease_of_an_ended_replica_is_released_and_deleted(
    server: ApiServer, one: Replica, admin: Client
) -> None:
    """A Lease that is as it was seen is released, and the released one deleted."""
    await one.leases.begin(state(ME), 5)
    other = Replica(server, "op-b")
    await other.leases.release_for((await other.leases.list(5)).states[0])
    (released,) = (await other.leases.list(5)).states
    assert released.is_released

    await other.leases.delete(released)
    assert await admin.find(Lease, OP_A) is None


async def test_a_lease_that_was_renewed_meanwhile_is_left_alone(server: ApiServer, one: Replica, admin: Client) -> None:
    """A replica that renews its Lease just before others release or delete it keeps it."""
    await one.leases.begin(state(ME), 5)
    other = Replica(server, "op-b")
    (seen,) = (await other.leases.list(5)).states
    await asyncio.sleep(1)
    await one.leases.renew(state(ME), 5)
    await other.leases.release_for(seen)
    await other.leases.delete(seen)

    assert (await stored(admin)).holder == "op-a"


async def test_a_clean_up_that_fails_is_left_to_others(server: ApiServer, one: Replica, admin: Client) -> None:
    """A replica that cannot release or delete the Lease of another one works on."""
    await one.leases.begin(state(ME), 5)
    other = Replica(server, "op-b")
    (seen,) = (await other.leases.list(5)).states
    other.network.add(Rule(ConnectionRefused(), times=None))
    await other.leases.release_for(seen)
    await other.leases.delete(seen)

    assert (await stored(admin)).holder == "op-a"
