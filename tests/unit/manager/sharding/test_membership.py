"""The rules of the ring, one by one, from lists and writes at given times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyctrl.controller import all_slots
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.rendezvous import wins
from tests.unit.manager.sharding._members import at, member, state

ME, B, C = member("me"), member("b"), member("c")
MINE = wins(ME, B)
ITS = all_slots() & ~MINE


def joining(*others: MemberState, **options: Any) -> Membership:
    """A replica whose first write is sent at 0 and whose first list, answered at 0, has these Leases."""
    membership = Membership(Sharding(name="op", namespace="default", **options))
    membership.begin_term(ME)
    assert membership.renewed(at(0), at(0))
    membership.observe([state(ME), *others], 0, 0)
    return membership


def working(*others: MemberState) -> Membership:
    """A replica that all others know, and that holds what it takes."""
    membership = joining(*(replace(other, acknowledged=frozenset([ME.term])) for other in others))
    membership.acknowledge(membership.acknowledgeable(0))
    membership.hold(membership.taken(at(0)))
    assert membership.has_joined
    return membership


def renewed(membership: Membership, until: float) -> None:
    """Renew the Lease without delay, all five seconds and at a time."""
    assert membership.renewed_at is not None
    last = membership.renewed_at.loop
    while last < until:
        last = min(last + 5, until)
        assert membership.renewed(at(last), at(last))


# --- joining ---


def test_a_replica_alone_takes_all_slots_after_its_first_list() -> None:
    """A replica that finds no other Lease takes everything, but not before it has listed them."""
    me = Membership(Sharding(name="op", namespace="default"))
    me.begin_term(ME)
    assert me.renewed(at(0), at(0))
    assert (me.taken(at(0)), me.has_joined) == (0, False)

    me.observe([state(ME)], 0, 0)
    assert (me.taken(at(0)), me.has_joined) == (all_slots(), True)


def test_a_replica_takes_nothing_before_all_others_have_acknowledged_its_term() -> None:
    """With two others in the first list it waits for both, then takes what it wins against both."""
    me = joining(state(B), state(C))
    assert (me.awaited, me.taken(at(0))) == (["b", "c"], 0)

    me.observe([state(ME), state(B, renewal="2", acknowledged=ME.term), state(C)], 1, 1)
    assert (me.awaited, me.taken(at(1))) == (["c"], 0)

    both = [state(each, renewal="3", acknowledged=ME.term) for each in (B, C)]
    me.observe([state(ME), *both], 2, 2)
    assert me.taken(at(2)) == MINE & wins(ME, C)


def test_the_acknowledgement_of_an_earlier_term_does_not_count() -> None:
    """A replica in a new term waits, although others still say that they know its last term."""
    me = joining(state(B, acknowledged="me-0"))

    assert "b" in me.awaited


def test_a_replica_does_not_wait_for_one_that_began_later() -> None:
    """A Lease that is missing in the first list is not awaited, and its slots are not taken."""
    me = joining()
    me.observe([state(ME), state(B)], 2, 2)

    assert (me.has_joined, me.taken(at(2))) == (True, MINE)


def test_a_replica_that_is_awaited_and_begins_a_new_term_is_not_awaited_any_more() -> None:
    """One that joins again has listed this replica's Lease and waits itself."""
    me = joining(state(B))
    me.observe([state(ME), state(member("b", term="b-2"), renewal="2")], 1, 1)

    assert me.taken(at(1)) == MINE


def test_a_replica_that_is_awaited_and_ends_is_not_awaited_any_more() -> None:
    """One whose Lease is released, or has expired, need not acknowledge."""
    released, expired = joining(state(B)), joining(state(B))
    released.observe([state(ME), state(B, holder="")], 1, 1)
    expired.observe([state(ME), state(B)], 15, 15)

    assert released.won == expired.won == all_slots()


def test_a_list_before_the_first_write_does_not_count() -> None:
    """What a replica reads before its Lease is written says nothing of who knows it."""
    me = Membership(Sharding(name="op", namespace="default"))
    me.begin_term(ME)
    me.observe([], 0, 0)

    assert not me.has_joined


# --- leases that expire ---


def test_a_lease_expires_only_after_a_list_that_was_sent_after_its_time() -> None:
    """An answer that comes after the end of a Lease does not count if its request was sent before."""
    me = joining(state(B))
    me.observe([state(ME), state(B)], 14.9, 40)
    assert list(me.peers) == ["b"]

    me.observe([state(ME), state(B)], 40, 40)
    assert not me.peers
    assert list(me.expired) == ["b"]


def test_the_time_of_another_counts_from_the_answer() -> None:
    """A Lease first read in an answer at 10 is not over before 25, also if the request was sent at 0."""
    me = Membership(Sharding(name="op", namespace="default"))
    me.observe([state(B)], 0, 10)
    me.observe([state(B)], 24.9, 24.9)
    assert list(me.peers) == ["b"]

    me.observe([state(B)], 25, 25)
    assert not me.peers


def test_a_renewal_begins_the_time_of_another_again() -> None:
    """A Lease that was renewed lives for another duration from when that was read."""
    me = joining(state(B))
    me.observe([state(ME), state(B, renewal="2")], 10, 10)
    me.observe([state(ME), state(B, renewal="2")], 24.9, 24.9)
    assert list(me.peers) == ["b"]

    me.observe([state(ME), state(B, renewal="2")], 25, 25)
    assert not me.peers


def test_the_edit_of_another_begins_no_time() -> None:
    """A Lease that is edited, but not renewed, expires when it would have."""
    me = joining(state(B))
    me.observe([state(ME), state(B, resource_version="9")], 14, 14)
    me.observe([state(ME), state(B, resource_version="10")], 15, 15)

    assert not me.peers
    assert me.expired["b"].resource_version == "10"


def test_a_lease_lives_as_long_as_it_says() -> None:
    """The duration is that of the other's Lease; a shorter one counts only once the longer one is over."""
    me = joining(state(B, lease_seconds=40))
    me.observe([state(ME), state(B, lease_seconds=40)], 39, 39)
    assert list(me.peers) == ["b"]

    me.observe([state(ME), state(B, renewal="2", lease_seconds=5)], 39, 39)
    assert me.peers["b"].free_at == 79


def test_a_lease_that_is_over_does_not_come_back() -> None:
    """A Lease that has expired is no replica again unless it is renewed; then it is one."""
    me = joining(state(B))
    me.observe([state(ME), state(B)], 15, 15)
    me.observe([state(ME), state(B)], 17, 17)
    assert not me.peers

    me.observe([state(ME), state(B, renewal="2")], 19, 19)
    assert list(me.peers) == ["b"]
    assert not me.expired


def test_an_expired_lease_that_is_edited_can_be_deleted() -> None:
    """The last version of an expired Lease is known, so that its deletion is not refused as a conflict."""
    me = joining(state(B))
    me.observe([state(ME), state(B, resource_version="1")], 15, 15)
    me.observe([state(ME), state(B, resource_version="2")], 17, 17)

    assert me.expired["b"].resource_version == "2"


def test_an_expired_lease_is_forgotten_once_it_is_deleted() -> None:
    """A Lease that is gone need not be deleted."""
    me = joining(state(B))
    me.observe([state(ME), state(B)], 15, 15)
    me.observe([state(ME)], 17, 17)

    assert not me.expired


# --- leases that are released or deleted ---


def test_a_released_lease_frees_its_slots_at_once() -> None:
    """What a released replica had is taken without waiting."""
    me = working(state(B))
    me.observe([state(ME), state(B, renewal="2", holder="")], 2, 2)

    assert me.taken(at(2)) == all_slots()
    assert list(me.expired) == ["b"]


def test_a_released_lease_that_nobody_knew_is_no_replica() -> None:
    """A replica that joins does not wait for one that has left."""
    assert joining(state(B, holder="")).has_joined


def test_a_deleted_lease_keeps_its_holder_for_a_lease_duration() -> None:
    """The slots of a replica whose Lease is missing are free only after its duration, by a list sent later."""
    me = working(state(B))
    me.observe([state(ME)], 9, 10)
    for second in (9.9, 24.9):
        renewed(me, second)
        me.observe([state(ME)], second, 26)
        assert me.taken(at(second)) == MINE
    renewed(me, 25)
    me.observe([state(ME)], 25, 25)

    assert me.taken(at(25)) == all_slots()


def test_a_replica_that_joins_waits_for_one_whose_lease_it_misses() -> None:
    """One that was known before this term, and whose Lease is deleted, is waited for as others are."""
    me = working(state(B))
    me.end_term()
    me.observe([], 1, 1)
    me.begin_term(member("me", term="me-2"))
    assert me.renewed(at(2), at(2))
    me.observe([], 2, 2)

    assert "b" in me.awaited


def test_a_deleted_lease_that_is_written_again_is_a_new_renewal() -> None:
    """A Lease that comes back with the same time in it lives for a duration from then."""
    me = working(state(B))
    me.observe([state(ME)], 5, 5)
    me.observe([state(ME), state(B)], 10, 10)
    me.observe([state(ME), state(B)], 24.9, 24.9)

    assert list(me.peers) == ["b"]


# --- ghosts: acknowledged terms without a Lease ---


def test_a_replica_waits_for_a_term_that_others_know_but_that_has_no_lease() -> None:
    """One whose Lease was deleted may still work: others have acknowledged it."""
    me = joining(state(B, acknowledged=f"{ME.term} lost-1"))
    assert (me.awaited, me.taken(at(0))) == (["lost-1"], 0)

    me.observe([state(ME), state(B, renewal="2", acknowledged=f"{ME.term} lost-1")], 14.9, 14.9)
    assert me.awaited == ["lost-1"]

    renewed(me, 15)
    me.observe([state(ME), state(B, renewal="3", acknowledged=f"{ME.term} lost-1")], 15, 15)
    assert me.taken(at(15)) == MINE


def test_a_replica_waits_no_more_once_others_have_forgotten_the_term() -> None:
    """When no other knows the term any more it is over."""
    me = joining(state(B, acknowledged=f"{ME.term} lost-1"))
    me.observe([state(ME), state(B, renewal="2", acknowledged=ME.term)], 1, 1)

    assert me.has_joined


def test_a_term_whose_lease_is_known_is_not_missing() -> None:
    """Terms of replicas with a Lease, also an expired or released one, are not waited for twice."""
    me = joining(state(B, acknowledged=f"{ME.term} c-1"), state(C, holder=""))

    assert me.has_joined


# --- its own term ---


def test_its_time_counts_from_when_a_renewal_was_sent() -> None:
    """The term of a renewal sent at 0 and answered at 4 has its deadlines at 10, 12.5 and 14."""
    me = joining()
    assert me.renewed(at(0), at(4))

    assert (me.renew_until, me.cancel_at, me.ends_at) == (10, 12.5, 14)
    assert (me.may_write(at(13.9)), me.may_write(at(14))) == (True, False)
    assert (me.taken(at(9.9)), me.taken(at(10))) == (all_slots(), 0)


def test_a_process_that_was_suspended_may_not_write() -> None:
    """The time on the wall clock counts when the loop's clock stood still."""
    me = joining()

    assert not me.may_write(at(1, wall=14))
    assert me.taken(at(1, wall=10)) == 0


def test_a_renewal_whose_answer_comes_after_the_term_ends_it() -> None:
    """A renewal that was sent in time, but answered too late, is refused: others may believe that the term is over."""
    me = joining()

    assert not me.renewed(at(9), at(14))
    assert me.renewed_at == at(0)
    assert not me.may_write(at(14))


def test_the_end_of_a_term_ends_everything() -> None:
    """After a term a replica holds, takes and acknowledges nothing, and may not write."""
    me = working(state(B))
    me.end_term()

    assert (me.held, me.taken(at(0)), me.acknowledged, me.may_write(at(0))) == (0, 0, frozenset(), False)
    assert (me.acknowledgeable(0), me.awaited, me.has_joined) == (frozenset(), [], False)


def test_a_new_term_begins_with_nothing() -> None:
    """In a new term a replica holds nothing, and may not write before its Lease is written."""
    me = working(state(B))
    me.begin_term(member("me", term="me-2"))

    assert (me.held, me.taken(at(0)), me.may_write(at(0)), me.has_joined) == (0, 0, False, False)


# --- what it acknowledges ---


def test_a_term_is_acknowledged_only_when_nothing_runs_in_its_slots() -> None:
    """A replica acknowledges another one while requests run only in slots that it wins itself."""
    me = joining()
    me.hold(all_slots())
    me.observe([state(ME), state(B)], 2, 2)
    lowest = ITS & -ITS

    assert me.acknowledgeable(MINE | lowest) == frozenset()
    assert me.acknowledgeable(MINE) == {B.term}


def test_each_term_is_acknowledged_on_its_own() -> None:
    """A request in a slot that one of two others wins delays the acknowledgement of that one only."""
    me = working(state(B), state(C))
    busy = ITS & wins(ME, C)

    assert me.acknowledgeable(busy) == {C.term}


def test_slots_are_held_until_their_winner_is_acknowledged() -> None:
    """The slots of a replica that joins may be written until its term is acknowledged, and not afterwards."""
    me = joining()
    me.hold(me.taken(at(0)))
    me.observe([state(ME), state(B)], 2, 2)
    assert (me.taken(at(2)), me.held) == (MINE, all_slots())

    me.acknowledge(me.acknowledgeable(0))
    assert (me.held, me.acknowledged) == (MINE, frozenset({B.term}))


def test_the_term_of_an_ended_replica_is_not_acknowledged_any_more() -> None:
    """Acknowledgements are of replicas that may work."""
    me = working(state(B))
    me.observe([state(ME), state(B, holder="")], 2, 2)

    assert me.acknowledgeable(0) == frozenset()


# --- leaving ---


def test_a_replica_that_leaves_keeps_only_slots_in_which_requests_run() -> None:
    """On leaving a replica takes nothing, and holds what is busy until it no longer is."""
    me = joining()
    me.hold(all_slots())
    me.leave(0b110)
    assert (me.taken(at(0)), me.held) == (0, 0b110)

    me.leave(0b010)
    me.leave(0b111)
    assert me.held == 0b010


def test_others_take_what_a_leaving_replica_has_not_kept() -> None:
    """Of a replica that leaves only the slots that its Lease names are left alone."""
    me = working(state(B))
    me.observe([state(ME), state(B, renewal="2", acknowledged=ME.term, kept=0b1010)], 2, 2)

    assert me.taken(at(2)) == all_slots() & ~0b1010


def test_a_leaving_replica_is_acknowledged_unless_requests_run_in_what_it_keeps() -> None:
    """A replica yields the slots that a leaving one keeps, and no others."""
    me = joining()
    me.hold(all_slots())
    me.observe([state(ME), state(B, kept=0b1010)], 2, 2)
    assert me.acknowledgeable(0b0010) == frozenset()

    me.acknowledge(me.acknowledgeable(all_slots() & ~0b1010))
    assert me.held == all_slots() & ~0b1010


@pytest.mark.parametrize("kept", [0, 0b11])
def test_two_that_leave_take_nothing(kept: int) -> None:
    """A replica that leaves does not take what another one that leaves has given up."""
    me = joining(state(B, acknowledged=ME.term, kept=kept))
    me.leave(0)

    assert me.taken(at(0)) == 0
