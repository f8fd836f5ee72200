"""What the Lease of a replica says, written by the replica and read by the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.controller import SLOTS, all_slots
from pyctrl.errors import ManagerError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager._sharding.member_state import MemberLoad, MemberState, new_lease
from pyctrl.manager._sharding.rendezvous import Member, wins
from tests.unit.manager.sharding._members import START, member, read_back, state


def written(what: MemberState, lease: Lease | None = None, *, seconds: float = 0, transitions: int = 0) -> Lease:
    """The Lease after a replica has written its state into it."""
    lease = lease or new_lease(what.member.lease, "default", {"team": "red"})
    what.write_to(lease, START + timedelta(seconds=seconds), transitions)
    return lease


# --- what is written is read ---


def test_others_read_what_a_replica_has_written() -> None:
    """All that a replica says of itself is read by the others."""
    me = member("a", weight=2.5, version="2.0", canary=0.25)
    said = state(me, acknowledged="x-1 b-1", kept=5, load=MemberLoad(slots=7, requests=3, errors=1))
    said = replace(said, rolled_back=frozenset({"1.0", "a b"}))
    read = read_back(said)

    assert read.member == me
    assert (read.holder, read.lease_seconds) == ("a", 15)
    assert (read.acknowledged, read.kept, read.load) == (said.acknowledged, 5, said.load)
    assert read.rolled_back == {"1.0", "a b"}
    assert not read.is_released


@settings(deadline=None)
@given(
    st.floats(1e-6, 1e6, exclude_max=True),
    st.floats(0, 1),
    st.text("ab äß-.\u2603", min_size=1, max_size=8),
)
def test_others_compute_with_the_same_numbers_as_the_replica(weight: float, canary: float, identity: str) -> None:
    """Weight, canary and identity are read exactly as written, as others compute the replica's slots from them."""
    me = Member("op-1", identity, "t", weight, "2", canary)

    assert read_back(state(me)).member == me


def test_no_two_replicas_of_weight_one_third_win_the_same_slot() -> None:
    """Replicas whose weight has many digits agree with what others compute of them in each slot."""
    for number in range(20):
        one, other = (member(f"{name}{number}", weight=1 / 3) for name in "ab")
        mine, its = wins(one, read_back(state(other)).member), wins(other, read_back(state(one)).member)
        assert mine == all_slots() & ~its


@pytest.mark.parametrize("kept", [None, 0, 1, all_slots()])
def test_the_slots_of_a_replica_that_leaves_are_read(kept: int | None) -> None:
    """A replica that leaves with nothing is told apart from one that does not leave."""
    assert read_back(state(member("a"), kept=kept)).kept == kept


def test_a_released_lease_is_read_as_released() -> None:
    """A Lease without a holder is released, and has a duration that the API server accepts."""
    lease = written(state(member("a"), holder=""))

    assert MemberState.of(lease, 15) is not None
    assert read_back(state(member("a"), holder="")).is_released
    assert lease.spec.lease_duration_seconds == 1


def test_what_a_replica_no_longer_says_is_gone() -> None:
    """What it has once written and no longer says is removed from its Lease."""
    me = member("a", version="1")
    lease = written(state(me, acknowledged="b-1", kept=3))
    read = MemberState.of(written(state(member("a")), lease), 15)

    assert read is not None
    assert (read.acknowledged, read.kept, read.member.version) == (frozenset(), None, "")


def test_what_others_have_written_is_kept() -> None:
    """Labels and annotations of others stay, and the time of the first acquisition."""
    lease = written(state(member("a")))
    lease.metadata.annotations["team.example.com/owner"] = "red"
    written(state(member("a")), lease, seconds=2)

    assert lease.metadata.annotations["team.example.com/owner"] == "red"
    assert lease.metadata.labels == {"team": "red"}
    assert (lease.spec.acquire_time, lease.spec.renew_time) == (START, START + timedelta(seconds=2))


# --- renewals ---


def test_a_renewal_is_told_from_the_edit_of_another() -> None:
    """A new time, a new term and a new transition are renewals; labels and resource versions are not."""

    def read(lease: Lease) -> MemberState:
        found = MemberState.of(lease, 15)
        assert found is not None
        return found

    one = read(written(state(member("a"))))
    edited = written(state(member("a")))
    edited.metadata.labels["edited"], edited.metadata.resource_version = "yes", "77"

    assert one.is_same_renewal(read(edited))
    assert not one.is_same_renewal(read(written(state(member("a")), seconds=2)))
    assert not one.is_same_renewal(read(written(state(member("a")), transitions=1)))
    assert not one.is_same_renewal(read(written(state(member("a", term="a-2")))))
    assert not one.is_same_renewal(read(written(state(member("a"), holder=""))))


def test_a_lease_that_is_created_again_is_a_renewal() -> None:
    """A Lease that was deleted and appears again counts as renewed, also with the same time in it."""
    one = state(member("a"))

    assert not one.as_deleted().is_same_renewal(one)


# --- leases that others have edited ---


def test_a_lease_of_another_program_is_no_member() -> None:
    """A Lease without a term is no member of the ring."""
    assert MemberState.of(new_lease("op", "default", {}), 15) is None


def test_a_replica_with_another_number_of_slots_is_refused() -> None:
    """A Lease with another number of slots raises an error that names the Lease and both numbers."""
    lease = written(state(member("a")))
    lease.metadata.annotations["sharding.pyctrl.io/slots"] = "64"
    with pytest.raises(ManagerError, match=f"lease default/a has 64 slots, this one has {SLOTS}"):
        MemberState.of(lease, 15)


def test_edits_by_hand_do_not_stop_the_ring() -> None:
    """Annotations that are not valid are read as their defaults; a duration that is missing is the ring's own."""
    lease = written(state(member("a", weight=2.0), kept=3, load=MemberLoad(slots=3)))
    for name in ("weight", "leaving-with", "load", "canary"):
        lease.metadata.annotations[f"sharding.pyctrl.io/{name}"] = "?"
    lease.spec.lease_duration_seconds = None
    read = MemberState.of(lease, 20)

    assert read is not None
    assert (read.member.weight, read.member.canary, read.kept, read.load) == (1, 1, None, MemberLoad())
    assert read.lease_seconds == 20
