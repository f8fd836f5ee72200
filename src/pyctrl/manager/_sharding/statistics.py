"""The state and counters of sharding."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ShardingStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingStatistics:
    """The state and counters of the sharding, as seen by this replica."""

    identity: str
    #: The replicas that may work, this one included.
    members: int
    #: Whether this replica works, and the slots that it takes of all.
    has_joined: bool
    slots: int
    all_slots: int
    #: Requests of its controllers that are ready or running.
    requests: int
    #: The slots of its fair share, by weight and canary.
    fair_slots: float
    #: Slots taken and given up since the start.
    taken: int
    yielded: int
    #: How often it has joined, and how often it had to stop because its Lease was not renewed in time.
    terms: int
    losses: int
    #: Runs that were cancelled because their slot moved.
    cancelled: int
    #: Failed requests for Leases.
    failures: int
