"""Rendezvous hashing: which of several members wins a slot.

Keys are hashed into slots. For each slot every member has a score that depends on nothing but itself, and the member
with the highest score wins. So any two members agree which of them comes first, whatever others they know, and a member
that joins or leaves moves only slots that it wins (Thaler and Ravishankar, "A Name-Based Mapping Scheme for
Rendezvous", 1996). A set of slots is an int whose bits are the slots.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256
from struct import unpack

from pyctrl.controller import SLOTS, all_slots

__all__ = ["Member", "fair_slots", "owners", "wins"]


@dataclass(frozen=True, slots=True)
class Member:
    """What the ring knows of a replica; nothing of it changes during one term of the replica."""

    #: The name of its Lease, which is unique.
    lease: str
    #: What is hashed; two members with the same one want the same slots.
    identity: str
    #: A random string that is new whenever the replica joins.
    term: str
    #: Its share of the slots, relative to the weights of the others.
    weight: float = 1.0
    #: The version of its program; "" for no version.
    version: str = ""
    #: The share of all slots for which this version comes before others; 1: no preference among versions.
    canary: float = 1.0


@lru_cache(maxsize=4096)
def wins(one: Member, other: Member) -> int:
    """Return the slots in which one member comes before another."""
    wins_ties = (one.identity, one.lease) > (other.identity, other.lease)
    better = operator.ge if wins_ties else operator.gt
    mask = _mask(map(better, _scores(one.identity, one.weight), _scores(other.identity, other.weight)))
    if one.canary == other.canary:
        return mask
    (first, last), (its_first, its_last) = _classes(one.canary), _classes(other.canary)
    return first & ~its_first | its_last & ~last | mask & ~(first ^ its_first) & ~(last ^ its_last)


def owners(members: Iterable[Member]) -> dict[Member, int]:
    """Return the slots of each member if they all know each other."""
    known = list(members)
    return {one: _first(one, known) for one in known}


def fair_slots(one: Member, others: Iterable[Member]) -> float:
    """Return how many slots a member would have if hashing were perfectly even: by weights, and shares of canaries."""
    weights: dict[float, float] = {}
    for member in (one, *others):
        weights[member.canary] = weights.get(member.canary, 0.0) + member.weight
    return one.weight * _slots_of_weight(one.canary, tuple(sorted(weights.items())))


@lru_cache(maxsize=256)  # metrics and `Ring` ask for the same members again and again
def _slots_of_weight(canary: float, weights: tuple[tuple[float, float], ...]) -> float:
    """Return how many slots a weight of 1 with a canary share would have, beside the weights of all shares."""
    if len(weights) == 1:
        return SLOTS / weights[0][1]
    classes = {each: _classes(each) for each, _ in weights}
    fair = 0.0
    for slot in range(SLOTS):
        ranks = {each: (first >> slot & 1) - (last >> slot & 1) for each, (first, last) in classes.items()}
        best = max(ranks.values())
        if ranks[canary] == best:
            fair += 1 / sum(weight for each, weight in weights if ranks[each] == best)
    return fair


def _mask(bits: Iterable[bool]) -> int:
    """Return the set of the slots whose bit is true."""
    return int("".join("1" if bit else "0" for bit in bits)[::-1], 2)


def _first(one: Member, known: Iterable[Member]) -> int:
    mask = all_slots()
    for other in known:
        if other != one:
            mask &= wins(one, other)
    return mask


def _classes(canary: float) -> tuple[int, int]:
    """Return the slots in which a member comes before all others, and those in which it comes after all others.

    A canary has its share of the slots, and others have the rest; in each slot these three classes are in one order, so
    that one member wins it whatever canaries there are.
    """
    if canary >= 1:
        return 0, 0
    share = _canary_slots(canary)
    return share, all_slots() & ~share


@lru_cache(maxsize=64)
def _canary_slots(share: float) -> int:
    """Return a share of the slots, spread over all of them; a larger share has those of a smaller one."""
    return _mask(rank < share * SLOTS for rank in _ranks("canary"))


@lru_cache(maxsize=1024)
def _scores(identity: str, weight: float) -> tuple[float, ...]:
    """Return the score of a member in each slot: -weight / ln(u), which is the highest in its share of the slots.

    u is a rank divided by the number of ranks, not a hash: with each rank once, shares differ less by chance. Scores
    are rounded, so that the last digit of a platform's logarithm does not decide.
    """
    return tuple(round(-weight / math.log((rank + 0.5) / SLOTS), 9) for rank in _ranks(identity))


@lru_cache(maxsize=1024)
def _ranks(text: str) -> tuple[int, ...]:
    """Return a permutation of the slots' numbers that a text determines."""
    hashes = unpack(f">{SLOTS}Q", shake_256(text.encode()).digest(8 * SLOTS))
    ranks = [0] * SLOTS
    for rank, slot in enumerate(sorted(range(SLOTS), key=hashes.__getitem__)):
        ranks[slot] = rank
    return tuple(ranks)
