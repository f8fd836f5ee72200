"""Options of leader election, and the times that follow from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum

from pyctrl.errors import ManagerError

__all__ = ["JITTER_FACTOR", "LeaderElection", "OnLoss"]

#: Candidates wait up to this fraction of a retry period longer, so that they do not all retry together (client-go's).
JITTER_FACTOR = 1.2

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class OnLoss(Enum):
    """Behaviour of a manager that has lost the Lease and stopped its elected runnables."""

    #: `Manager.run` raises `LeadershipLost`: the program ends, and is restarted without state of the earlier term.
    EXIT = "exit"
    #: The manager contends again, while runnables that need no leader keep running and caches stay filled. Elected
    #: runnables are run again when it leads again, so they must support that; controllers do.
    CONTEND = "contend"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderElection:
    """Leader election with a Lease: of several replicas, only its holder runs the elected runnables.

    The algorithm, its times and the content of the Lease are client-go's, so that replicas in Go and in Python can
    share one. Each replica measures times on its own monotonic clock. The replicas' clocks need not agree, but must run
    at the same speed to within a few percent (as for client-go).

    Raises:
        ManagerError: the times do not fit each other, or the name is not a valid object name.
    """

    #: The name of the Lease: the same for all replicas, and used by no other program.
    name: str
    #: The namespace of the Lease; by default the operator's own, that of its credentials.
    namespace: str | None = None
    #: How long other replicas wait without a renewal before one of them becomes leader; whole seconds.
    lease_duration: timedelta = timedelta(seconds=15)
    #: How long after its last renewal a leader stops leading.
    renew_deadline: timedelta = timedelta(seconds=10)
    #: The time between two tries of the leader to renew; of other replicas to acquire, plus up to 1.2 times as much.
    retry_period: timedelta = timedelta(seconds=2)
    #: Release the Lease on stop, once all elected runnables have ended, so that the next leader need not wait.
    release_on_stop: bool = True
    on_loss: OnLoss = OnLoss.EXIT
    #: The ``holderIdentity`` of this replica, unique among replicas; by default the host name and a random UUID.
    identity: str | None = None
    #: Labels of the Lease.
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 253:
            raise ManagerError(f"a Lease needs a name such as 'podset-operator', got {self.name!r}")
        if self.identity is not None and not self.identity:
            raise ManagerError("LeaderElection: identity must not be empty: a Lease without a holder has an empty one")
        lease, renew, retry = self.lease_duration, self.renew_deadline, self.retry_period
        if lease % timedelta(seconds=1) or lease < timedelta(seconds=1):
            raise ManagerError(f"lease_duration must be whole seconds, at least 1, got {lease.total_seconds():g} s")
        if not lease > renew > JITTER_FACTOR * retry > timedelta(0):
            raise ManagerError(
                f"LeaderElection needs lease_duration > renew_deadline > {JITTER_FACTOR} x retry_period > 0, got "
                f"{lease.total_seconds():g} s, {renew.total_seconds():g} s and {retry.total_seconds():g} s"
            )

    @property
    def request_timeout(self) -> timedelta:
        """The timeout of one request: half of the renew deadline, at least one second, as in controller-runtime."""
        return max(timedelta(seconds=1), self.renew_deadline / 2)

    @property
    def cancel_after(self) -> timedelta:
        """When stopping elected runnables are cancelled: halfway between renew deadline and expiry of the Lease."""
        return (self.renew_deadline + self.lease_duration) / 2

    @property
    def safe_time(self) -> timedelta:
        """How long after the last renewal elected runnables may write.

        A fifth of the time between renew deadline and expiry is reserved for requests in flight and for clocks of
        different speed: with the defaults, the last of 15 seconds.
        """
        return self.lease_duration - (self.lease_duration - self.renew_deadline) / 5
