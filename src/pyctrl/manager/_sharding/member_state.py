"""What the Lease of a replica says: its member of the ring, what it has acknowledged, and how much it has to do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from pyctrl.api import ObjectMeta
from pyctrl.controller import SLOTS
from pyctrl.errors import ManagerError
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.manager._election.candidate import RELEASED_SECONDS
from pyctrl.manager._sharding.rendezvous import Member

__all__ = ["RING_LABEL", "MemberLoad", "MemberState", "new_lease"]

#: The label of the Leases of a ring, whose value is the ring's name.
RING_LABEL = "sharding.pyctrl.io/ring"

_PREFIX = "sharding.pyctrl.io/"


class MemberLoad(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much a replica has to do, as its Lease says; for `pyctrl shards` and canaries."""

    #: The slots that it works on.
    slots: int = 0
    #: Requests that are ready or running.
    requests: int = 0
    #: Reconciles since it started, and those of them that failed.
    reconciles: int = 0
    errors: int = 0
    #: Slots that it has taken and given up since it started.
    moves: int = 0


@dataclass(frozen=True, slots=True)
class MemberState:
    """What the Lease of a replica said when it was read."""

    member: Member
    holder: str
    #: Changes with each renewal.
    renewal: str
    lease_seconds: float
    acknowledged: frozenset[str] = frozenset()
    #: The slots that it still works on, once it leaves; None before: it works on those that it wins.
    kept: int | None = None
    load: MemberLoad = field(default_factory=MemberLoad)
    #: The versions whose canaries were rolled back, as far as it knows.
    rolled_back: frozenset[str] = frozenset()
    resource_version: str = ""
    uid: str = ""
    is_deleted: bool = False

    @property
    def is_released(self) -> bool:
        """Whether it has left."""
        return not self.holder

    def is_same_renewal(self, other: MemberState) -> bool:
        """Return whether its holder has not renewed it since, whatever others have written into it."""
        mine, its = (self.member.term, self.holder, self.renewal), (other.member.term, other.holder, other.renewal)
        return mine == its and not self.is_deleted

    def as_deleted(self) -> MemberState:
        """Return the state of a Lease that is deleted."""
        return replace(self, is_deleted=True)

    @classmethod
    def of(cls, lease: Lease, default_seconds: float) -> MemberState | None:
        """Read a Lease; None for one that no replica with the same slots has written.

        Raises:
            ManagerError: the replica divides requests into another number of slots.
        """
        annotations, spec = lease.metadata.annotations, lease.spec
        term = annotations.get(_PREFIX + "term")
        if not term:
            return None
        slots = annotations.get(_PREFIX + "slots", "")
        if slots != str(SLOTS):
            raise ManagerError(
                f"the replica of the lease {lease.metadata.namespace}/{lease.metadata.name} has {slots or 'no'} slots, "
                f"this one has {SLOTS}: replicas of one ring need versions of pyctrl with the same number"
            )
        member = Member(
            lease=lease.metadata.name,
            identity=annotations.get(_PREFIX + "identity", spec.holder_identity or lease.metadata.name),
            term=term,
            weight=_number(annotations.get(_PREFIX + "weight")),
            version=annotations.get(_PREFIX + "version", ""),
            canary=_number(annotations.get(_PREFIX + "canary")),
        )
        return cls(
            member=member,
            holder=spec.holder_identity or "",
            renewal=f"{spec.renew_time} {spec.lease_transitions}",
            lease_seconds=float(spec.lease_duration_seconds or default_seconds),
            acknowledged=frozenset(annotations.get(_PREFIX + "acknowledged", "").split()),
            kept=_slots(annotations.get(_PREFIX + "leaving-with")),
            load=_load(annotations.get(_PREFIX + "load", "")),
            rolled_back=_versions(annotations.get(_PREFIX + "rolled-back", "")),
            resource_version=lease.metadata.resource_version or "",
            uid=lease.metadata.uid or "",
        )

    def write_to(self, lease: Lease, wall: datetime, transitions: int) -> None:
        """Write this state into a Lease; what others have written is kept."""
        member, spec = self.member, lease.spec
        written = {
            "term": member.term,
            "slots": str(SLOTS),
            "identity": member.identity,
            "weight": repr(member.weight),
            "version": member.version,
            "canary": repr(member.canary),
            "acknowledged": " ".join(sorted(self.acknowledged)),
            "leaving-with": "" if self.kept is None else f"{self.kept:#x}",
            "load": msgspec.json.encode(self.load).decode(),
            "rolled-back": msgspec.json.encode(sorted(self.rolled_back)).decode() if self.rolled_back else "",
        }
        annotations = {_PREFIX + name: value for name, value in written.items() if value}
        kept = {name: value for name, value in lease.metadata.annotations.items() if not name.startswith(_PREFIX)}
        lease.metadata.annotations = kept | annotations
        spec.holder_identity, spec.renew_time, spec.lease_transitions = self.holder, wall, transitions
        if spec.acquire_time is None:
            spec.acquire_time = wall
        spec.lease_duration_seconds = int(self.lease_seconds) if self.holder else RELEASED_SECONDS


def new_lease(name: str, namespace: str, labels: dict[str, str]) -> Lease:
    """Return a Lease that no replica has written yet."""
    return Lease(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels), spec=LeaseSpec())


def _number(text: str | None) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 1.0


def _slots(text: str | None) -> int | None:
    try:
        return int(text, 16) if text else None
    except ValueError:  # it was edited by hand: the replica may work on all of them
        return None


def _load(text: str) -> MemberLoad:
    try:
        return msgspec.json.decode(text, type=MemberLoad) if text else MemberLoad()
    except msgspec.MsgspecError:  # it was edited by hand
        return MemberLoad()


def _versions(text: str) -> frozenset[str]:
    try:
        return msgspec.json.decode(text, type=frozenset[str]) if text else frozenset()
    except msgspec.MsgspecError:  # it was edited by hand
        return frozenset()
