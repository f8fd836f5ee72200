"""How replicas agree on a leader: the options, and the times that follow from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum

from pyctrl.errors import ManagerError

__all__ = ["JITTER_FACTOR", "LeaderElection", "OnLoss"]

#: Candidates wait for up to this much of a retry period longer, so that they do not all ask together (client-go's).
JITTER_FACTOR = 1.2

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class OnLoss(Enum):
    """What becomes of a manager whose elected work had to be stopped because the lease could not be kept."""

    #: `Manager.run` raises `LeadershipLost`: the program ends and is started again, without anything left of before.
    EXIT = "exit"
    #: It contends again, with everything that needs no leader still running and its caches warm. Elected runnables
    #: are run anew when it leads again, so they must bear that; controllers do.
    CONTEND = "contend"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderElection:
    """Let one of several replicas do the elected work: the one that holds a Lease and keeps renewing it.

    The algorithm, its times and what stands in the Lease are client-go's, so that replicas in Go and in Python can
    take turns. Times are measured by each replica for itself, on a clock that nobody sets; the replicas' clocks need
    not agree, but must run at the same speed to within a few percent (as for client-go).

    Raises:
        ManagerError: times that do not fit each other, or a name that no object can have.
    """

    #: The name of the Lease: the same for all replicas, and nobody else's.
    name: str
    #: Where the Lease is; by default in the operator's own namespace, that of its login.
    namespace: str | None = None
    #: How long the others wait without seeing a renewal before one of them leads; whole seconds.
    lease_duration: timedelta = timedelta(seconds=15)
    #: How long after its last renewal a leader stops its work.
    renew_deadline: timedelta = timedelta(seconds=10)
    #: How long between two tries: of the leader to renew, of the others (and up to 1.2 times as much more) to lead.
    retry_period: timedelta = timedelta(seconds=2)
    #: Give the lease up at the end, once all elected work has ended, so that the next one need not wait.
    release_on_stop: bool = True
    on_loss: OnLoss = OnLoss.EXIT
    #: What stands in the Lease for this replica; by default the host's name and a random UUID. Never that of another.
    identity: str | None = None
    #: Labels for the Lease.
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 253:
            raise ManagerError(f"a Lease needs a name such as 'podset-operator', got {self.name!r}")
        if self.identity is not None and not self.identity:
            raise ManagerError("an identity must not be empty: that is what stands in a Lease that nobody holds")
        lease, renew, retry = self.lease_duration, self.renew_deadline, self.retry_period
        if lease % timedelta(seconds=1) or lease < timedelta(seconds=1):
            raise ManagerError(f"lease_duration stands in the Lease in whole seconds, got {lease.total_seconds():g} s")
        if not lease > renew > JITTER_FACTOR * retry > timedelta(0):
            raise ManagerError(
                f"a lease needs lease_duration > renew_deadline > {JITTER_FACTOR} x retry_period > 0, got "
                f"{lease.total_seconds():g} s, {renew.total_seconds():g} s and {retry.total_seconds():g} s"
            )

    @property
    def request_timeout(self) -> timedelta:
        """What one request of the election may take: half of the renew deadline, at least a second (as in Go)."""
        return max(timedelta(seconds=1), self.renew_deadline / 2)

    @property
    def cancel_after(self) -> timedelta:
        """When after the last renewal elected work that was asked to stop is cancelled: halfway to the lease's end."""
        return (self.renew_deadline + self.lease_duration) / 2

    @property
    def safe_time(self) -> timedelta:
        """How long after the last renewal elected work may write.

        A fifth of the time between renew deadline and lease's end is left for what has been sent, and for clocks that
        run at different speeds: of 15 seconds the last one.
        """
        return self.lease_duration - (self.lease_duration - self.renew_deadline) / 5
