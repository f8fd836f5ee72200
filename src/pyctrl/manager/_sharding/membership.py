"""The rules of the ring: which slots a replica may work on, from its view of all Leases.

A `Membership` reads no clock and sends no requests: its methods take the time, and `ShardMember` applies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

from pyctrl.controller import all_slots
from pyctrl.manager._election.candidate import Moment
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.options import Sharding
from pyctrl.manager._sharding.rendezvous import Member, wins

__all__ = ["Membership", "RingPeer"]


@dataclass(slots=True)
class RingPeer:
    """Another replica that may work."""

    state: MemberState
    #: When its term is over unless it renews its Lease, on the loop's clock of this replica.
    free_at: float

    @property
    def member(self) -> Member:
        """What the ring knows of it."""
        return self.state.member


class Membership:
    """One replica's view of the ring.

    Guarantee: no two replicas whose clocks run at the same speed may work on one slot at the same time. Take any two.
    The one that began its term later has read the Lease of the earlier one, because it lists all Leases after it wrote
    its own. It works only once the earlier one has acknowledged its term, or its Lease has expired. From then on each
    knows the other, and both know which slots are whose, as that depends on the two of them only (`wins`). A replica
    acknowledges a term once nothing runs in the slots that the other one wins. It forgets the other one only after that
    one's Lease has expired, by when the other one has stopped, and cannot continue but with a new term.

    As in leader election, this replica counts its own time from when it *sent* a renewal, and that of others from when
    it *received* theirs. A Lease counts as expired only if a request that was sent after its time has found it
    unchanged. So the latter starts later and lasts longer.

    Sets of slots are ints; see `rendezvous`.
    """

    def __init__(self, options: Sharding) -> None:
        self._times = options.times()
        #: This replica in its present term; None while it is in no term.
        self.me: Member | None = None
        #: When the last successful renewal of this term was sent.
        self.renewed_at: Moment | None = None
        #: The other replicas that may work, by the name of their Lease.
        self.peers: dict[str, RingPeer] = {}
        #: The slots whose requests may run and write: those that it takes, and those that it has yet to yield.
        self.held: int = 0
        #: Whether it takes no more slots, and yields each once nothing runs in it.
        self.is_leaving: bool = False
        #: The terms that it has acknowledged.
        self.acknowledged: frozenset[str] = frozenset()
        self._is_over = False
        self._first_in = 0  # the slots that it wins against all peers: each run asks, and only `observe` changes them
        self._expired: dict[str, MemberState] = {}  # what their Leases said when they expired
        self._awaited: dict[str, str] | None = None  # terms by Lease; None before the first list of this term
        self._ghosts: dict[str, float] = {}  # terms that others have acknowledged, without a Lease: until when

    # --- state ---

    @property
    def awaited(self) -> list[str]:
        """The Leases of replicas that have yet to acknowledge this term."""
        return [*(self._awaited or ()), *self._ghosts]

    @property
    def has_joined(self) -> bool:
        """Whether all others know that this replica works."""
        return self._awaited is not None and not self._awaited and not self._ghosts

    @property
    def renew_until(self) -> float:
        """When it must take no more requests unless it renews its Lease before, on the loop's clock."""
        return self._after_renewal(self._times.renew_deadline.total_seconds())

    @property
    def cancel_at(self) -> float:
        """When running reconciles are cancelled unless it renews its Lease before, on the loop's clock."""
        return self._after_renewal(self._times.cancel_after.total_seconds())

    @property
    def ends_at(self) -> float:
        """When its term is over unless it renews its Lease before, on the loop's clock."""
        return self._after_renewal(self._times.safe_time.total_seconds())

    def may_write(self, now: Moment) -> bool:
        """Return whether a request sent now takes effect before another replica may work on slots that are held."""
        if self.renewed_at is None:
            return False
        return now.seconds_since(self.renewed_at) < self._times.safe_time.total_seconds()

    def taken(self, now: Moment) -> int:
        """Return the slots whose requests may begin to run now."""
        return self.won if self._may_take(now) else 0

    @property
    def won(self) -> int:
        """The slots that it wins against all others that may work; 0 until it has joined."""
        return self._first_in if self.has_joined and not self.is_leaving else 0

    def acknowledgeable(self, busy: int) -> frozenset[str]:
        """Return the terms that it can acknowledge while requests in ``busy`` slots run."""
        if self.me is None:
            return frozenset()
        peers = self.peers.values()
        return frozenset(each.member.term for each in peers if not busy & ~self._won_against(self.me, each))

    @staticmethod
    def _won_against(me: Member, peer: RingPeer) -> int:
        """Return the slots in which a replica comes before another; one that leaves has only those that it names."""
        return wins(me, peer.member) if peer.state.kept is None else all_slots() & ~peer.state.kept

    # --- transitions of its own ---

    def begin_term(self, me: Member) -> None:
        """Begin a term, before its Lease is written. It holds nothing."""
        self.me, self.renewed_at, self._awaited, self.held = me, None, None, 0
        self._is_over = False
        self._ghosts.clear()

    def renewed(self, sent: Moment, now: Moment) -> bool:
        """Record a successful write of its Lease; return False if the term was over before the answer came."""
        if self._is_over or (self.renewed_at is not None and not self.may_write(now)):
            return False
        self.renewed_at = sent
        return True

    def end_early(self) -> None:
        """End the term although its time is not over; no renewal revives it."""
        self.renewed_at, self._is_over = None, True

    def hold(self, slots: int) -> None:
        """Hold slots that are taken, too."""
        self.held |= slots

    def acknowledge(self, terms: frozenset[str]) -> None:
        """Yield the slots that replicas with these terms win; before the Lease says so."""
        assert self.me is not None  # only a member acknowledges
        self.acknowledged = terms
        for peer in self.peers.values():
            if peer.member.term in terms:
                self.held &= self._won_against(self.me, peer)

    def leave(self, busy: int) -> None:
        """Begin to leave, or go on: it takes nothing more, and holds only slots in which requests run."""
        self.is_leaving = True
        self.held &= busy

    def end_term(self) -> None:
        """End the term: nothing is held any more."""
        self.me, self.renewed_at, self._awaited, self.held = None, None, None, 0
        self.acknowledged = frozenset()
        self._ghosts.clear()

    # --- what it observes ---

    def observe(self, states: Iterable[MemberState], sent: float, received: float) -> None:
        """Record all Leases as read by a request, and when it was sent and answered, on the loop's clock."""
        listed = {state.member.lease: state for state in states}
        if self.me is not None:
            listed.pop(self.me.lease, None)
        for lease, state in listed.items():
            self._observe(lease, state, sent, received)
        for lease in [lease for lease in self.peers if lease not in listed]:
            self._miss(self.peers[lease], sent, received)
        self._expired = {lease: state for lease, state in self._expired.items() if lease in listed}
        if self.me is not None:
            self._first_in = all_slots()
            for peer in self.peers.values():
                self._first_in &= self._won_against(self.me, peer)
            if self.renewed_at is not None:
                self._await(sent, received)

    @property
    def expired(self) -> Mapping[str, MemberState]:
        """The Leases of replicas that have ended, which can be deleted."""
        return self._expired

    def _observe(self, lease: str, state: MemberState, sent: float, received: float) -> None:
        peer = self.peers.get(lease)
        if state.is_released:
            self._forget(lease, state)
        elif peer is None:
            expired = self._expired.get(lease)
            if expired is not None and expired.is_same_renewal(state):
                self._expired[lease] = state  # another client may have changed it, so that it has another version
            else:
                self._expired.pop(lease, None)
                self.peers[lease] = RingPeer(state, received + state.lease_seconds)
        elif not peer.state.is_same_renewal(state):
            peer.state, peer.free_at = state, received + max(state.lease_seconds, peer.state.lease_seconds)
        elif sent >= peer.free_at:
            self._forget(lease, state)

    def _miss(self, peer: RingPeer, sent: float, received: float) -> None:
        """A Lease is deleted: its holder, which may have renewed it until then, has a lease duration to notice."""
        if not peer.state.is_deleted:
            peer.state = peer.state.as_deleted()
            peer.free_at = received + peer.state.lease_seconds
        elif sent >= peer.free_at:
            del self.peers[peer.member.lease]

    def _forget(self, lease: str, state: MemberState) -> None:
        self.peers.pop(lease, None)
        self._expired[lease] = state

    def _await(self, sent: float, received: float) -> None:
        """Note who has yet to acknowledge this term: in the first list after its Lease was written, all others."""
        assert self.me is not None
        if self._awaited is None:
            self._awaited = {lease: peer.member.term for lease, peer in self.peers.items()}
            seconds = [peer.state.lease_seconds for peer in self.peers.values()]
            until = received + max([self._times.lease_duration.total_seconds(), *seconds])
            self._ghosts = dict.fromkeys(self._unknown_terms(), until)
        unknown = self._unknown_terms()
        self._ghosts = {term: until for term, until in self._ghosts.items() if term in unknown and sent < until}
        for lease, term in list(self._awaited.items()):
            peer = self.peers.get(lease)
            # a peer with a later term has listed this replica's Lease, and awaits it
            if peer is None or peer.member.term != term or self.me.term in peer.state.acknowledged:
                del self._awaited[lease]

    def _unknown_terms(self) -> set[str]:
        """Return the terms that others have acknowledged, but whose Lease is missing: it may have been deleted."""
        assert self.me is not None
        known = {self.me.term, *(peer.member.term for peer in self.peers.values())}
        known.update(state.member.term for state in self._expired.values())
        return {term for peer in self.peers.values() for term in peer.state.acknowledged if term not in known}

    def _may_take(self, now: Moment) -> bool:
        if self.renewed_at is None:
            return False
        return now.seconds_since(self.renewed_at) < self._times.renew_deadline.total_seconds()

    def _after_renewal(self, seconds: float) -> float:
        return -inf if self.renewed_at is None else self.renewed_at.loop + seconds
