"""The ring as its Leases show it to anybody who reads them, for `pyctrl shards` and programs that watch others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from pyctrl.api import HASH_SPACE, ShardRange, merge_ranges
from pyctrl.controller import SLOTS, all_slots, slots_in
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager._sharding.member_state import RING_LABEL, MemberState
from pyctrl.manager._sharding.rendezvous import fair_slots, wins

__all__ = ["MemberPhase", "Ring", "RingMember"]

#: What a member does: it works; it waits until all others know it; it finishes what runs; its Lease is out.
MemberPhase: TypeAlias = Literal["working", "joining", "leaving", "expired"]

_DEFAULT_SECONDS = 15.0  # of a Lease without a duration; that of `Sharding`
_SLOT_HASHES = HASH_SPACE // SLOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class RingMember:
    """A replica, as its Lease and those of the others say."""

    #: The name of its Lease, and of the replica.
    lease: str
    identity: str
    version: str
    weight: float
    phase: MemberPhase
    #: While it joins: the Leases of the members that have yet to acknowledge it.
    awaited: tuple[str, ...] = ()
    #: The number of slots that it works on, and their hashes.
    slots: int = 0
    ranges: tuple[ShardRange, ...] = ()
    #: The share of all slots that its version gets beside another one; 1 for no canary.
    canary: float = 1.0
    #: How many slots it would have if all members that work had their exact shares, by weight and canary.
    fair_slots: float = 0.0
    #: As of its last renewal: requests that are ready or running, and slots that it has taken and given up.
    requests: int = 0
    moves: int = 0
    #: As of its last renewal: reconciles since it started, and those of them that failed.
    reconciles: int = 0
    errors: int = 0
    renewed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """The replicas that divide the requests of one program.

    It is what the Leases said when they were read. A member may have moved since, by up to a retry period.
    """

    name: str
    namespace: str
    members: tuple[RingMember, ...]
    #: The number of all slots, and of those that no member works on now, as members join, leave or have expired.
    slots: int
    unassigned: int

    @classmethod
    def read(cls, leases: Iterable[Lease], now: datetime) -> list[Ring]:
        """Return the rings of Leases, sorted by namespace and name. Rings that all members have left are left out.

        Args:
            leases: Leases with the label `RING_LABEL`; others are ignored.
            now: the time by which Leases expire.

        Raises:
            ManagerError: a member has another number of slots than this version of pyctrl.
        """
        found: dict[tuple[str, str], list[_Member]] = {}
        for lease in leases:
            name = lease.metadata.labels.get(RING_LABEL)
            state = MemberState.of(lease, _DEFAULT_SECONDS) if name else None
            if name and state is not None and not state.is_released:
                member = _Member(state, lease.spec.renew_time, now)
                found.setdefault((lease.metadata.namespace or "", name), []).append(member)
        return [_ring(name, namespace, members) for (namespace, name), members in sorted(found.items())]

    @property
    def busiest(self) -> RingMember | None:
        """The working member with the most slots for its fair share; None if none works."""
        working = [each for each in self.members if each.phase == "working" and each.fair_slots]
        return max(working, key=lambda each: each.slots / each.fair_slots, default=None)

    @property
    def imbalance(self) -> float | None:
        """The slots of the `busiest` member relative to its fair share; 1 is fair, None if no member works."""
        busiest = self.busiest
        return None if busiest is None else busiest.slots / busiest.fair_slots


class _Member:
    """The state of a Lease that is not released, and whether it has expired."""

    def __init__(self, state: MemberState, renewed: datetime | None, now: datetime) -> None:
        self.state, self.renewed = state, renewed
        until = None if renewed is None else renewed + timedelta(seconds=state.lease_seconds)
        self.is_expired = until is None or until <= now

    @property
    def lease(self) -> str:
        return self.state.member.lease

    def phase(self, others: Sequence[_Member]) -> MemberPhase:
        if self.is_expired:
            return "expired"
        if self.state.kept is not None:
            return "leaving"
        return "joining" if self.awaited(others) else "working"

    def awaited(self, others: Sequence[_Member]) -> tuple[str, ...]:
        """Return who has yet to acknowledge it. Once it has slots, those without its term have joined after it."""
        if self.state.load.slots:
            return ()
        term = self.state.member.term
        return tuple(sorted(each.lease for each in others if term not in each.state.acknowledged))

    def slots(self, others: Sequence[_Member]) -> int:
        """Return the slots that it works on, by the rules of `Membership`."""
        phase = self.phase(others)
        if phase == "leaving":
            return self.state.kept or 0
        mask = all_slots() if phase == "working" else 0
        for each in others:
            kept = each.state.kept
            mask &= wins(self.state.member, each.state.member) if kept is None else ~kept
        return mask


def _ring(name: str, namespace: str, members: Sequence[_Member]) -> Ring:
    held = {each.lease: each.slots(_without(members, each)) for each in members}
    taken = 0
    for slots in held.values():
        taken |= slots
    return Ring(
        name=name,
        namespace=namespace,
        members=tuple(
            _shown(each, _without(members, each), held[each.lease])
            for each in sorted(members, key=lambda member: member.lease)
        ),
        slots=SLOTS,
        unassigned=SLOTS - taken.bit_count(),
    )


def _without(members: Sequence[_Member], one: _Member) -> list[_Member]:
    return [each for each in members if each is not one]


def _shown(member: _Member, others: Sequence[_Member], slots: int) -> RingMember:
    state, phase = member.state, member.phase(others)
    working = [each.state.member for each in others if each.phase(_without([*others, member], each)) == "working"]
    fair = fair_slots(state.member, working) if phase == "working" else 0.0
    return RingMember(
        lease=member.lease,
        identity=state.member.identity,
        version=state.member.version,
        weight=state.member.weight,
        phase=phase,
        awaited=member.awaited(others) if phase == "joining" else (),
        slots=slots.bit_count(),
        canary=state.member.canary,
        fair_slots=fair,
        ranges=merge_ranges(ShardRange(slot * _SLOT_HASHES, (slot + 1) * _SLOT_HASHES) for slot in slots_in(slots)),
        requests=state.load.requests,
        moves=state.load.moves,
        reconciles=state.load.reconciles,
        errors=state.load.errors,
        renewed=member.renewed,
    )
