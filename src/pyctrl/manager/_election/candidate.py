"""Leader election rules: when a replica may take the Lease, renew it, and act as leader.

A `Candidate` reads no clock and sends no requests: its methods take the time, and `LeaderElector` applies them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from pyctrl.api import Key, ObjectMeta
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.manager._election.options import LeaderElection

__all__ = ["RELEASED_SECONDS", "Candidate", "Moment"]

RELEASED_SECONDS = 1  # leaseDurationSeconds of a released Lease, as in client-go: the API server rejects 0


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment on both clocks: the loop's, which is never set, and the wall clock, which advances during sleep."""

    loop: float
    wall: datetime

    def seconds_since(self, earlier: Moment) -> float:
        """Return the seconds since an earlier moment: the larger value of the two clocks.

        The loop's clock stops while a machine sleeps. A wall clock that is set forward makes the result too large.
        """
        return max(self.loop - earlier.loop, (self.wall - earlier.wall).total_seconds())


class Candidate:
    """One replica's view of the Lease.

    Guarantee: two candidates whose clocks run at the same speed never both act as leader. A candidate measures its own
    term from the moment it *sent* its last successful renewal, and another holder's from the moment it *received* the
    record written by that holder. So the latter starts later and lasts longer.

    Only a renewal or an empty holder changes how long a candidate waits for another holder. Editing the duration does
    not shorten that time. After the Lease is deleted, candidates that knew its holder wait as if it had been renewed.
    An empty holder is what a released Lease has.
    """

    def __init__(self, options: LeaderElection, key: Key, identity: str) -> None:
        self.identity = identity
        self._options = options
        self._key = key
        #: The Lease as last read or written; None when there is none.
        self.lease: Lease | None = None
        #: When the Lease of another holder expires, on the loop's clock.
        self.free_at: float = -inf
        #: When the last successful renewal was sent; None while this replica does not lead.
        self.renewed_at: Moment | None = None

    # --- state ---

    @property
    def holder(self) -> str:
        """The holder of the Lease as last observed; "" if it has none."""
        return (self.lease.spec.holder_identity or "") if self.lease is not None else ""

    @property
    def transitions(self) -> int:
        """The ``leaseTransitions`` of the Lease: how often its holder has changed."""
        return (self.lease.spec.lease_transitions or 0) if self.lease is not None else 0

    @property
    def is_leading(self) -> bool:
        """Whether it has acquired the Lease and neither released nor lost it."""
        return self.renewed_at is not None

    @property
    def is_held_by_other(self) -> bool:
        """Whether another replica holds the Lease, expired or not."""
        return self.holder not in ("", self.identity)

    def may_write(self, now: float) -> bool:
        """Return whether it may acquire or renew the Lease."""
        return now >= self.free_at

    def may_act(self, now: Moment) -> bool:
        """Return whether a request sent now takes effect before another replica can lead."""
        safe = self._options.safe_time.total_seconds()
        return self.renewed_at is not None and now.seconds_since(self.renewed_at) < safe

    @property
    def renew_until(self) -> float:
        """When it must stop leading unless it renews the Lease before, on the loop's clock."""
        return self._after_renewal(self._options.renew_deadline)

    @property
    def cancel_at(self) -> float:
        """When runnables that were asked to stop are cancelled, on the loop's clock."""
        return self._after_renewal(self._options.cancel_after)

    # --- transitions ---

    def observe(self, lease: Lease | None, now: float) -> None:
        """Record the Lease as read from the server, and when it was received."""
        before, self.lease = self.lease, lease
        if lease is None:
            if before is not None and not self.is_leading:  # another replica may have held the deleted Lease
                self._wait_for(before.spec, now)
        elif before is None or before.spec != lease.spec:
            if self.is_held_by_other:
                self._wait_for(lease.spec, now)
            elif not self.holder:
                self.free_at = now

    def renewed(self, lease: Lease, sent: Moment) -> None:
        """Record a successful write that acquired or renewed the Lease, and when it was sent."""
        self.lease, self.renewed_at, self.free_at = lease, sent, -inf

    def stop_leading(self) -> None:
        """Stop leading: no more writes are allowed."""
        self.renewed_at = None

    # --- Leases to write ---

    def claim(self, wall: datetime) -> Lease:
        """Return the Lease that this replica acquires or renews; fields written by others are kept."""
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
        """Return the Lease without a holder."""
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
        """Wait for the holder's lease duration, or for this replica's if the Lease has none."""
        seconds = spec.lease_duration_seconds or self._options.lease_duration.total_seconds()
        self.free_at = max(self.free_at, now + seconds)

    def _after_renewal(self, duration: timedelta) -> float:
        return -inf if self.renewed_at is None else self.renewed_at.loop + duration.total_seconds()
