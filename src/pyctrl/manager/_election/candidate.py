"""Who leads, decided: what a replica knows of the Lease, whether it may take it, until when it may act.

No clock, no requests: every method is given the time, and `Elector` does what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from pyctrl.api import Key, ObjectMeta
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.manager._election.options import LeaderElection

__all__ = ["Candidate", "Moment"]

RELEASED_SECONDS = 1  # of a lease that was given up: the API server takes no zero (client-go's)


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment on both clocks: the loop's, which nobody sets, and the wall's, which a sleeping machine catches up."""

    loop: float
    wall: datetime

    def seconds_since(self, earlier: Moment) -> float:
        """Return how long ago another moment is: the longer of what the two clocks say.

        The loop's stands still while a machine sleeps. A wall clock that is set forward makes it longer than it was.
        """
        return max(self.loop - earlier.loop, (self.wall - earlier.wall).total_seconds())


class Candidate:
    """One replica's view of the Lease.

    Promised: between two candidates with clocks of the same speed there is never a moment in which both may act. A
    candidate counts its own time from when it *sent* the last renewal that succeeded, and another's from when it had
    *received* the record that the other wrote, so that the second begins after the first, and lasts longer.

    What is not a renewal never shortens another's time: neither that somebody edits the duration, nor that somebody
    deletes the Lease, after which those who knew it wait as if it had been renewed. Only a holder that is empty does,
    as left by one that has ended.
    """

    def __init__(self, options: LeaderElection, key: Key, identity: str) -> None:
        self.identity = identity
        self._options = options
        self._key = key
        #: The Lease as last read or written; None when there is none.
        self.lease: Lease | None = None
        #: When, on the loop's clock, the others may have lost it, as far as is known.
        self.free_at: float = -inf
        #: When the last renewal that succeeded was sent; None when this replica does not lead.
        self.renewed_at: Moment | None = None

    # --- what is known ---

    @property
    def holder(self) -> str:
        """Who holds the lease, as far as is known; "" for nobody."""
        return (self.lease.spec.holder_identity or "") if self.lease is not None else ""

    @property
    def transitions(self) -> int:
        """How often the lease has gone from one to another."""
        return (self.lease.spec.lease_transitions or 0) if self.lease is not None else 0

    @property
    def is_leading(self) -> bool:
        """Whether it took the lease, and has neither given it up nor lost it."""
        return self.renewed_at is not None

    @property
    def is_anothers(self) -> bool:
        """Whether another one holds the lease, expired or not."""
        return self.holder not in ("", self.identity)

    def may_write(self, now: float) -> bool:
        """Tell whether it may take the lease, or renew it."""
        return now >= self.free_at

    def may_act(self, now: Moment) -> bool:
        """Tell whether what it sends now comes before anybody else may lead."""
        safe = self._options.safe_time.total_seconds()
        return self.renewed_at is not None and now.seconds_since(self.renewed_at) < safe

    @property
    def renew_until(self) -> float:
        """When, on the loop's clock, it must stop its work if it has not renewed the lease before."""
        return self._after_renewal(self._options.renew_deadline)

    @property
    def cancel_at(self) -> float:
        """When, on the loop's clock, work that has been asked to stop is to be cancelled."""
        return self._after_renewal(self._options.cancel_after)

    # --- what happens ---

    def saw(self, lease: Lease | None, now: float) -> None:
        """Take in what was read, at the time at which it had come."""
        before, self.lease = self.lease, lease
        if lease is None:
            if before is not None and not self.is_leading:  # somebody may have held what is gone
                self._wait_for(before.spec, now)
        elif before is None or before.spec != lease.spec:
            if self.is_anothers:
                self._wait_for(lease.spec, now)
            elif not self.holder:
                self.free_at = now

    def wrote(self, lease: Lease, sent: Moment) -> None:
        """Take in the answer to a write that has made or kept it the leader, and when that was sent."""
        self.lease, self.renewed_at, self.free_at = lease, sent, -inf

    def lost(self) -> None:
        """Stop leading: from now on nothing may be written."""
        self.renewed_at = None

    # --- what to write ---

    def claim(self, wall: datetime) -> Lease:
        """Return the Lease that makes this replica its holder, or renews it; what others wrote into it stays."""
        is_mine = self.holder == self.identity
        claim = self._base()
        spec = claim.spec
        if self.lease is not None and not is_mine:
            spec.lease_transitions = self.transitions + 1
        elif spec.lease_transitions is None:
            spec.lease_transitions = 0
        if not is_mine or spec.acquire_time is None:
            spec.acquire_time = wall
        spec.holder_identity, spec.renew_time = self.identity, wall
        spec.lease_duration_seconds = int(self._options.lease_duration.total_seconds())
        return claim

    def release(self, wall: datetime) -> Lease:
        """Return the Lease that nobody holds any more."""
        released = self._base()
        spec = released.spec
        spec.holder_identity, spec.lease_duration_seconds = "", RELEASED_SECONDS
        spec.acquire_time = spec.renew_time = wall
        return released

    def _base(self) -> Lease:
        if self.lease is not None:
            lease = self.lease.deep_copy()
        else:
            lease = Lease(metadata=ObjectMeta(name=self._key.name, namespace=self._key.namespace), spec=LeaseSpec())
        if self._options.labels:
            lease.metadata.labels = {**lease.metadata.labels, **self._options.labels}
        return lease

    def _wait_for(self, spec: LeaseSpec, now: float) -> None:
        """Leave a holder its time: as long as its record says, or our own duration if that says nothing."""
        seconds = spec.lease_duration_seconds or self._options.lease_duration.total_seconds()
        self.free_at = max(self.free_at, now + seconds)

    def _after_renewal(self, duration: timedelta) -> float:
        return -inf if self.renewed_at is None else self.renewed_at.loop + duration.total_seconds()
