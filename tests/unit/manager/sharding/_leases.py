"""Leases as replicas of a ring write them."""

from __future__ import annotations

from datetime import UTC, datetime

from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import RING_LABEL
from pyctrl.manager._sharding.member_state import MemberLoad, MemberState, new_lease
from pyctrl.manager._sharding.rendezvous import Member

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def lease(
    name: str,
    *acknowledged: str,
    ring: str = "podset",
    namespace: str = "default",
    renewed: datetime = NOW,
    holder: str | None = None,
    kept: int | None = None,
    load: MemberLoad | None = None,
    weight: float = 1.0,
    version: str = "",
    canary: float = 1.0,
) -> Lease:
    """Return the Lease of a replica whose term has its name, and which has acknowledged the terms of others."""
    state = MemberState(
        member=Member(name, f"{name}-host", name, weight, version, canary),
        holder=f"{name}-host" if holder is None else holder,
        renewal="",
        lease_seconds=15,
        acknowledged=frozenset(acknowledged),
        kept=kept,
        load=load or MemberLoad(),
    )
    made = new_lease(name, namespace, {RING_LABEL: ring})
    state.write_to(made, renewed, 0)
    return made
