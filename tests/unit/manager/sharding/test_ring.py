"""Tests of rings as their Leases show them."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from pyctrl.api import HASH_SPACE, hash_field
from pyctrl.errors import ManagerError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import Ring, RingMember
from pyctrl.manager._sharding.member_state import MemberLoad
from pyctrl.manager._sharding.rendezvous import Member, owners
from tests.unit.manager.sharding._leases import NOW, lease


def read(*leases: Lease, after: float = 0) -> Ring:
    (ring,) = Ring.read(leases, NOW + timedelta(seconds=after))
    return ring


def member(ring: Ring, name: str) -> RingMember:
    return next(each for each in ring.members if each.lease == name)


def test_members_that_know_each_other_share_all_slots() -> None:
    """Two replicas that have acknowledged each other both work, and have the slots that each of them computes."""
    ring = read(lease("b", "a"), lease("a", "b"))
    assert [(each.lease, each.identity, each.phase) for each in ring.members] == [
        ("a", "a-host", "working"),
        ("b", "b-host", "working"),
    ]
    shares = owners([Member("a", "a-host", "a"), Member("b", "b-host", "b")])
    assert [each.slots for each in ring.members] == [slots.bit_count() for slots in shares.values()]
    assert (sum(each.slots for each in ring.members), ring.slots, ring.unassigned) == (1024, 1024, 0)


def test_ranges_have_each_hash_once() -> None:
    """The ranges of all members together are the whole hash space, and the owner of a uid is the one with its hash."""
    ring = read(lease("a", "b", "c"), lease("b", "a", "c"), lease("c", "a", "b"))
    parts = sorted(part for each in ring.members for part in each.ranges)
    assert (parts[0].start, parts[-1].end) == (0, HASH_SPACE)
    assert all(one.end == other.start for one, other in pairwise(parts))
    shares = owners([Member(name, f"{name}-host", name) for name in "abc"])
    hashed = hash_field("8a7b2f3e-0000-4000-8000-000000000000")
    (owner,) = [each.lease for each in ring.members if any(hashed in part for part in each.ranges)]
    (expected,) = [each.lease for each, slots in shares.items() if slots >> (hashed >> 54) & 1]
    assert owner == expected


def test_a_member_joins_until_all_others_have_acknowledged_it() -> None:
    """A replica that others do not know yet has no slots, and shows whom it waits for; no replica has its slots."""
    working = MemberLoad(slots=512, requests=3, moves=7)
    ring = read(lease("a", "b", load=working), lease("b", "a", load=working), lease("c", "a", "b"))
    joining = member(ring, "c")
    assert (joining.phase, joining.awaited, joining.slots, joining.ranges) == ("joining", ("a", "b"), 0, ())
    assert (member(ring, "a").phase, member(ring, "b").phase) == ("working", "working")
    assert (member(ring, "a").requests, member(ring, "a").moves) == (3, 7)
    assert ring.unassigned == 1024 - member(ring, "a").slots - member(ring, "b").slots > 0
    unknown = read(lease("a", "b", load=working), lease("b", "a", load=working), lease("c"))
    assert [each.phase for each in unknown.members] == ["working", "working", "joining"]
    acknowledged = read(lease("a", "b", "c", load=working), lease("b", "a", load=working), lease("c", "a", "b"))
    assert member(acknowledged, "c").awaited == ("b",)


def test_a_member_that_leaves_keeps_what_runs() -> None:
    """A replica that leaves has the slots that it names; another one has all others at once."""
    ring = read(lease("a", "b"), lease("b", "a", kept=0b101))
    assert (member(ring, "b").phase, member(ring, "b").slots) == ("leaving", 2)
    assert (member(ring, "a").slots, ring.unassigned) == (1022, 0)


def test_a_member_expires_with_its_lease() -> None:
    """A replica that has not renewed its Lease in time works on nothing, and no replica has its slots yet."""
    leases = (lease("a", "b", renewed=NOW + timedelta(seconds=10)), lease("b", "a"))
    assert member(read(*leases, after=14.9), "b").phase == "working"
    ring = read(*leases, after=15)
    assert (member(ring, "b").phase, member(ring, "b").slots) == ("expired", 0)
    assert (member(ring, "a").phase, ring.unassigned) == ("working", 1024 - member(ring, "a").slots)


def test_members_that_have_left_are_not_shown() -> None:
    """A Lease that is released belongs to no member, and a ring without members is none."""
    assert [each.lease for each in read(lease("a"), lease("b", holder="")).members] == ["a"]
    assert Ring.read([lease("b", holder="")], NOW) == []


def test_rings_are_told_apart_by_namespace_and_name() -> None:
    """Each ring has its own members, and a Lease without the label of a ring, such as a leader's, is in none."""
    leader = lease("leader")
    leader.metadata.labels = {}
    rings = Ring.read([lease("a", ring="y"), lease("b", ring="x"), lease("c", ring="x", namespace="web"), leader], NOW)
    assert [(each.namespace, each.name, [one.lease for one in each.members]) for each in rings] == [
        ("default", "x", ["b"]),
        ("default", "y", ["a"]),
        ("web", "x", ["c"]),
    ]


def test_imbalance_is_relative_to_the_weights() -> None:
    """A replica of weight 3 beside one of weight 1 is not out of balance with three quarters of the slots."""
    ring = read(lease("a", "b", weight=3), lease("b", "a"))
    shares = {each.lease: each.slots / 1024 for each in ring.members}
    assert shares["a"] == pytest.approx(0.75, abs=0.05)
    assert ring.imbalance == pytest.approx(max(shares["a"] / 0.75, shares["b"] / 0.25))
    assert ring.busiest is not None
    assert ring.busiest.lease == max(("a", "b"), key=lambda name: shares[name] / {"a": 3, "b": 1}[name])
    assert read(lease("a"), after=20).imbalance is None


def test_only_members_that_work_have_a_fair_share() -> None:
    """Beside a replica that joins and one that has expired, the one that works has a fair share of all slots."""
    working = lease("a", "b", renewed=NOW + timedelta(seconds=10), load=MemberLoad(slots=512))
    ring = read(working, lease("b", "a"), lease("c", "a", renewed=NOW + timedelta(seconds=10)), after=15)
    assert [(each.lease, each.phase, each.fair_slots) for each in ring.members] == [
        ("a", "working", 1024.0),
        ("b", "expired", 0.0),
        ("c", "joining", 0.0),
    ]


def test_a_canary_with_its_share_is_in_balance() -> None:
    """A canary of a tenth beside two other replicas is not out of balance, and neither are they with 45 percent."""
    members = [lease(name, *"abc".replace(name, "")) for name in "ab"]
    ring = read(*members, lease("c", "a", "b", version="2", canary=0.1, load=MemberLoad(reconciles=7, errors=3)))
    assert ring.imbalance == pytest.approx(1.0, abs=0.1)
    canary = ring.members[-1]
    assert (canary.canary, canary.reconciles, canary.errors) == (0.1, 7, 3)
    assert canary.slots == pytest.approx(canary.fair_slots, abs=1)


def test_a_member_with_other_slots_is_an_error() -> None:
    """Replicas of a pyctrl with another number of slots cannot be shown, and the message names the Lease."""
    other = lease("a")
    other.metadata.annotations["sharding.pyctrl.io/slots"] = "64"
    with pytest.raises(ManagerError, match="default/a has 64 slots"):
        Ring.read([other], NOW)
