"""Memberships and a server of Leases whose requests are sent, arrive and are answered one by one, in any order.

Each `Node` acts as `ShardMember` and `ShardSlots` do, without tasks: a test chooses which step comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyctrl.manager import Sharding
from pyctrl.manager._election.candidate import Moment
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.rendezvous import Member
from tests.unit.manager.sharding._members import at

OPTIONS = Sharding(name="op", namespace="default")


class Server:
    """Stores what Leases say, as an API server does: a write succeeds only for the version that it replaces."""

    def __init__(self) -> None:
        self.leases: dict[str, MemberState] = {}
        self._version = 0

    def write(self, state: MemberState, replaces: str) -> MemberState | None:
        """Store a state; None for a conflict."""
        kept = self.leases.get(state.member.lease)
        if (kept.resource_version if kept is not None else "") != replaces:
            return None
        self._version += 1
        self.leases[state.member.lease] = stored = replace(state, resource_version=str(self._version))
        return stored

    def release_for(self, expired: MemberState) -> None:
        """Release a Lease unless it has changed, as another replica does."""
        self.write(replace(expired, holder=""), expired.resource_version)

    def delete(self, ended: MemberState) -> None:
        """Delete a Lease unless it has changed."""
        kept = self.leases.get(ended.member.lease)
        if kept is not None and kept.resource_version == ended.resource_version:
            del self.leases[ended.member.lease]


@dataclass(eq=False)
class Write:
    """A write of a Lease on its way."""

    state: MemberState
    replaces: str
    sent: Moment
    has_arrived: bool = False
    stored: MemberState | None = None


@dataclass
class Listing:
    """A list on its way."""

    sent: float
    states: list[MemberState] | None = None


@dataclass(eq=False)
class Node:
    """A replica: its rules, its clock, its requests, and the slots in which its reconciles run."""

    name: str
    server: Server
    speed: float
    membership: Membership = field(default_factory=lambda: Membership(OPTIONS))
    write: Write | None = None
    listing: Listing | None = None
    taken: int = 0
    busy: int = 0
    _known: MemberState | None = None
    _terms: int = 0
    _renewals: int = 0

    def now(self, time: float) -> Moment:
        """The moment on its own clock."""
        return at(1000 + time * self.speed)

    def works_on(self, time: float) -> int:
        """The slots whose requests may write or run now."""
        return self.membership.held | self.busy if self.membership.may_write(self.now(time)) else 0

    # --- its Lease ---

    def send_write(self, time: float) -> Write:
        """Begin a term, or renew the Lease."""
        membership = self.membership
        if membership.renewed_at is None:
            self._terms += 1
            membership.begin_term(Member(self.name, self.name, f"{self.name}-{self._terms}"))
            self._known = self.server.leases.get(self.name)
        self._renewals += 1
        assert membership.me is not None
        state = MemberState(
            membership.me,
            holder=self.name,
            renewal=str(self._renewals),
            lease_seconds=15,
            acknowledged=membership.acknowledged,
            kept=membership.held if membership.is_leaving else None,
        )
        self.write = Write(state, self._known.resource_version if self._known is not None else "", self.now(time))
        return self.write

    def arrive(self, write: Write) -> None:
        """Let a write arrive at the server."""
        write.has_arrived, write.stored = True, self.server.write(write.state, write.replaces)

    def answer(self, time: float) -> None:
        """Receive the answer to its write."""
        write, self.write = self.write, None
        assert write is not None
        if write.stored is None:
            self._conflict()
        else:
            self._known = write.stored
            if not self.membership.renewed(write.sent, self.now(time)):
                self.end()

    def _conflict(self) -> None:
        """Read the Lease, and renew it next time, unless it is deleted or released."""
        known, self._known = self._known, self.server.leases.get(self.name)
        if known is None or self._known is None or known.holder != self._known.holder:
            self.end()

    def end(self) -> None:
        """End the term, and all that runs in it."""
        self.membership.end_term()
        self.taken = self.busy = 0
        self.write = self.listing = None

    # --- the Leases of all ---

    def send_list(self, time: float) -> None:
        """List all Leases; only in a term whose Lease is written."""
        if self.membership.renewed_at is not None:
            self.listing = Listing(self.now(time).loop)

    def read_list(self) -> None:
        """Let the server read the Leases for a list."""
        if self.listing is not None:
            self.listing.states = list(self.server.leases.values())

    def answer_list(self, time: float) -> None:
        """Receive the Leases of a list."""
        if self.listing is not None and self.listing.states is not None:
            self.membership.observe(self.listing.states, self.listing.sent, self.now(time).loop)
            self.listing = None

    # --- its slots ---

    def apply(self, time: float) -> None:
        """Take, yield and acknowledge what the rules allow."""
        membership, now = self.membership, self.now(time)
        if not membership.may_write(now):
            self.end()
            return
        taken = membership.taken(now)
        gained, self.taken = taken & ~self.taken, taken
        if gained:
            membership.hold(gained)
        if membership.is_leaving:
            membership.leave(self.busy)
        terms = membership.acknowledgeable(self.busy)
        if terms != membership.acknowledged:
            membership.acknowledge(terms)

    def run(self, slots: int, time: float) -> None:
        """Begin reconciles in the slots of a set that it takes."""
        self.busy |= slots & self.taken & self.membership.taken(self.now(time))

    def clean_up(self) -> None:
        """Release the Leases that have expired, and delete those that are released."""
        for expired in list(self.membership.expired.values()):
            if expired.is_released:
                self.server.delete(expired)
            else:
                self.server.release_for(expired)

    # --- several steps at once ---

    def renew(self, time: float) -> None:
        """Write the Lease without delay."""
        self.arrive(self.send_write(time))
        self.answer(time)

    def look(self, time: float) -> None:
        """List all Leases without delay, and apply what follows."""
        self.send_list(time)
        self.read_list()
        self.answer_list(time)
        self.apply(time)
