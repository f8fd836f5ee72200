"""Rendezvous hashing: any two members agree, each slot has one owner, and little moves."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.controller import SLOTS, all_slots
from pyctrl.manager._sharding.rendezvous import Member, fair_slots, owners, wins
from tests.unit.manager.sharding._members import member

MEMBERS = st.builds(
    Member,
    lease=st.text("ab-1", min_size=1, max_size=3),
    identity=st.sampled_from(["a", "b", "c", "ä", ""]),
    term=st.just("t"),
    weight=st.sampled_from([1.0, 1.0, 0.5, 3.0, 1e-3, 999_999.0]),
    version=st.sampled_from(["", "1", "2"]),
    canary=st.sampled_from([1.0, 1.0, 0.5, 0.1, 0.0]),
)


def share(slots: int) -> float:
    """The share of all slots that a set has."""
    return slots.bit_count() / SLOTS


# --- two members ---


@settings(max_examples=200, deadline=None)
@given(MEMBERS, MEMBERS)
def test_of_two_members_exactly_one_comes_first_in_each_slot(one: Member, other: Member) -> None:
    """Two members never both win a slot, and one of them always does, also with equal identities."""
    if one.lease != other.lease:
        assert wins(one, other) == all_slots() & ~wins(other, one)


def test_the_term_does_not_matter() -> None:
    """A replica that joins again in a new term has the same slots."""
    assert wins(member("a", term="x"), member("b", term="y")) == wins(member("a", term="z"), member("b", term="w"))


def test_members_with_one_identity_are_told_apart_by_their_leases() -> None:
    """Two replicas that were given the same identity do not both work: one of them has all slots."""
    one, twin = Member("op-1", "same", "t"), Member("op-2", "same", "u")

    assert owners([one, twin]) == {one: 0, twin: all_slots()}


# --- all members ---


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 0.3]), st.sampled_from("12")), min_size=1, max_size=6))
def test_each_slot_has_exactly_one_owner(replicas: list[tuple[float, str]]) -> None:
    """The members together own each slot once, whatever their weights and versions."""
    members = [member(f"m{n}", weight=weight, version=version) for n, (weight, version) in enumerate(replicas)]
    owned = owners(members).values()

    assert sum(owned) == all_slots()
    assert sum(slots.bit_count() for slots in owned) == SLOTS


@pytest.mark.parametrize("shares", [(0.1, 0.3), (0.1, 1.0), (0.0, 0.5), (0.3, 0.3)], ids=str)
@pytest.mark.parametrize("versions", ["22", "23"])
def test_each_slot_has_one_owner_while_a_canary_changes(shares: tuple[float, float], versions: str) -> None:
    """Each slot has an owner also while replicas with the old and the new share of a canary run beside each other."""
    old = [member("old-1", version="1"), member("old-2", version="1")]
    canaries = [
        member(f"new-{n}", version=version, canary=canary)
        for n, (version, canary) in enumerate(zip(versions, shares, strict=True))
    ]
    owned = owners([*old, *canaries]).values()

    assert sum(slots.bit_count() for slots in owned) == SLOTS
    assert sum(owned) == all_slots()


@pytest.mark.parametrize("count", [2, 3, 4, 8, 20])
def test_a_member_that_joins_moves_only_its_own_share(count: int) -> None:
    """Slots move to the new member only, at most 1.2 of its fair share among up to 8 members, 1.4 among 20."""
    before = owners([member(f"m{n}") for n in range(count - 1)])
    new = member("new")
    after = owners([*before, new])

    assert all(after[old] == slots & ~after[new] for old, slots in before.items())
    assert 0.6 / count <= share(after[new]) <= (1.2 if count <= 8 else 1.4) / count


def test_equal_members_have_nearly_equal_shares() -> None:
    """Each of five equal members has a fifth of the slots, to within a seventh of it."""
    shares = [share(slots) for slots in owners([member(f"m{n}") for n in range(5)]).values()]

    assert shares == pytest.approx([0.2] * 5, rel=0.15)


# --- weights ---


@pytest.mark.parametrize(("weights", "expected"), [((1, 3), (0.25, 0.75)), ((1, 1, 2), (0.25, 0.25, 0.5))])
def test_a_member_has_slots_by_its_weight(weights: tuple[float, ...], expected: tuple[float, ...]) -> None:
    """A member of weight 3 has three times as many slots as one of weight 1."""
    owned = owners([member(f"m{n}", weight=weight) for n, weight in enumerate(weights)])

    assert [share(slots) for slots in owned.values()] == pytest.approx(expected, rel=0.1)


def test_a_member_that_becomes_heavier_only_gains() -> None:
    """A member with more weight keeps all its slots, and nothing moves among the others."""
    others = [member("a"), member("b")]
    light, heavy = member("c"), member("c", weight=2.0)
    before, after = owners([*others, light]), owners([*others, heavy])

    assert before[light] & ~after[heavy] == 0
    assert after[heavy].bit_count() > before[light].bit_count()
    assert all(after[other] == before[other] & ~after[heavy] for other in others)


# --- versions ---


def test_versions_without_a_canary_are_not_told_apart() -> None:
    """Two versions have their shares by weight unless one of them is a canary."""
    old, new = member("a", version="1"), member("b", version="2")

    assert wins(old, new) == wins(member("a"), member("b"))


@pytest.mark.parametrize("canary", [0.0, 0.01, 0.1, 0.5, 0.99])
def test_a_canary_has_its_share_whatever_the_number_of_replicas(canary: float) -> None:
    """A canary has its share of all slots, to within one slot, beside one or four replicas of the old version."""
    for count in (1, 4):
        new = [member("new-1", version="2", canary=canary), member("new-2", version="2", canary=canary)]
        owned = owners([*new, *(member(f"old-{n}", version="1") for n in range(count))])
        assert sum(owned[each].bit_count() for each in new) == pytest.approx(canary * SLOTS, abs=1)


def test_a_larger_canary_has_the_slots_of_a_smaller_one() -> None:
    """When the share of a canary grows no slot goes back to the old version."""
    old = member("old", version="1")
    slots = [wins(member("new", version="2", canary=canary), old) for canary in (0.05, 0.1, 0.3, 0.9)]

    assert all(small & ~large == 0 and small != large for small, large in pairwise(slots))


def test_canaries_alone_own_everything() -> None:
    """Without replicas of another version a canary owns all slots."""
    assert owners([only := member("new", version="2", canary=0.1)]) == {only: all_slots()}


# --- fixed values ---


def test_the_same_members_have_the_same_slots_in_every_version_and_on_every_platform() -> None:
    """The owners of three members are fixed values, since replicas of two versions of pyctrl may form one ring."""
    members = [member("op-0"), member("op-1", weight=2.5), member("op-2", version="2", canary=0.25)]
    owned = owners(members).values()

    assert [slots.bit_count() for slots in owned] == COUNTS
    assert [sha256(f"{slots:x}".encode()).hexdigest()[:16] for slots in owned] == HASHES


COUNTS = [227, 541, 256]
HASHES = ["420de061c1416060", "e6c19aa4f190a2b1", "6436b8134ae0fcab"]


@pytest.mark.parametrize(
    ("members", "fair"),
    [
        ([member("a"), member("b", weight=3)], [256, 768]),
        ([member("a"), member("b"), member("c", version="2", canary=0.25)], [384, 384, 256]),
        ([member("a", version="2", canary=0.25), member("b", version="2", canary=0.25)], [512, 512]),
        ([member("a"), member("b", version="2", canary=0.25), member("c", version="3", canary=0.5)], [512, 128, 384]),
        ([member("a"), member("b", version="2", canary=0.0)], [1024, 0]),
    ],
    ids=["weights", "a canary", "only canaries", "two canaries", "rolled back"],
)
def test_fair_shares_follow_from_weights_and_canaries(members: list[Member], fair: list[float]) -> None:
    """The exact share of a member is that by weight among those that come first in a slot."""
    for number, one in enumerate(members):
        others = members[:number] + members[number + 1 :]
        assert fair_slots(one, others) == pytest.approx(fair[number], abs=1)
        assert owners(members)[one].bit_count() == pytest.approx(fair[number], rel=0.2, abs=1)
