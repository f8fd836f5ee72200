"""Options of sharding, and the times that follow from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from pyctrl.controller import ShardBy, ShardKey
from pyctrl.errors import ManagerError
from pyctrl.manager._election.options import LeaderElection, OnLoss

__all__ = ["Sharding", "election_of"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MAX_NAME = 63  # it is the value of a label


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """Sharding over replicas: each request is reconciled by one of the replicas that run.

    Each replica holds a Lease of its own, with client-go's terms: how often it is renewed, and when it expires. From
    these Leases every replica computes which requests are its own; see docs/sharding.md. Like leader election it needs
    no common time, only clocks that run at the same speed to within a few percent.

    Raises:
        ManagerError: the times do not fit each other, or a name or number is not valid.
    """

    #: The name of the ring: the same for all replicas, and used by no other program. Names of Leases begin with it.
    name: str
    #: The namespace of the Leases; by default the operator's own, that of its credentials.
    namespace: str | None = None
    #: What divides requests: the uid of their object by default; see `ShardBy`. The same for all replicas.
    key: ShardKey = ShardBy.UID
    #: Whether a replica caches only its own objects of the kinds that it reconciles and owns; needs the key
    #: `ShardBy.UID`. With "label" the replicas also keep the label `pyctrl.io/shard` of these objects, by which servers
    #: select them that cannot select by hash. ``kinds={...: KindOptions(shard_memory=...)}`` of the manager says who
    #: selects them, for each kind. Reads of others, and of deleted objects, are requests (``outside=Outside.LIVE``).
    memory: bool | Literal["label"] = False
    #: How long other replicas wait without a renewal before they take the requests of a replica; whole seconds.
    lease_duration: timedelta = timedelta(seconds=15)
    #: How long after its last renewal a replica stops taking requests.
    renew_deadline: timedelta = timedelta(seconds=10)
    #: The time between two renewals, and between two reads of all Leases.
    retry_period: timedelta = timedelta(seconds=2)
    #: How long running reconciles may take when their requests move to another replica; then they are cancelled.
    handover_timeout: timedelta = timedelta(seconds=10)
    #: The share of this replica relative to others: one of weight 2 has twice as many requests as one of weight 1.
    weight: float = 1.0
    #: The version of the program; see ``canary``.
    version: str = ""
    #: The share of all requests that this version gets beside another one, from 0 to 1. 1 (the default): no preference.
    canary: float = 1.0
    #: Promote a canary after this time, to the share of any other replica, or take all from it earlier if its error
    #: rate is above twice that of the other version plus one percent, after 50 reconciles. None: by hand.
    promote_after: timedelta | None = None
    #: Release the Lease on stop, so that others take the requests at once.
    release_on_stop: bool = True
    #: A name of this replica that stays over restarts, such as that of a StatefulSet's Pod, so that it gets the same
    #: requests again. By default the host name and a random UUID.
    identity: str | None = None
    #: Labels of the Lease.
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _MAX_NAME:
            raise ManagerError(
                f"Sharding needs a name such as 'podset-operator' of at most {_MAX_NAME} characters, got {self.name!r}"
            )
        if not 0 < self.weight < 1e6:
            raise ManagerError(f"Sharding: weight must be above 0 and below 1,000,000, got {self.weight!r}")
        if not 0 <= self.canary <= 1:
            raise ManagerError(f"Sharding: canary is a share from 0 to 1, got {self.canary!r}")
        if self.canary < 1 and not self.version:
            raise ManagerError("Sharding: a canary needs version=..., which tells its replicas from the others")
        if self.promote_after is not None and self.canary >= 1:
            raise ManagerError("Sharding: promote_after needs a canary, a share below 1")
        if self.handover_timeout < timedelta(0):
            raise ManagerError(f"Sharding: handover_timeout must not be negative, got {self.handover_timeout}")
        if self.memory not in (False, True, "label"):
            raise ManagerError(f'Sharding: memory is True, False or "label", got {self.memory!r}')
        if self.memory and self.key is not ShardBy.UID:
            raise ManagerError("Sharding: memory=True needs key=ShardBy.UID: servers select objects by their uid")
        self.times()

    def times(self) -> LeaderElection:
        """Return leader election options with the same times, whose rules apply to the Lease of each replica.

        Raises:
            ManagerError: the times do not fit each other.
        """
        return LeaderElection(
            name=self.name,
            lease_duration=self.lease_duration,
            renew_deadline=self.renew_deadline,
            retry_period=self.retry_period,
            identity=self.identity,
        )


def election_of(sharding: Sharding) -> LeaderElection:
    """Return how the replicas of a ring elect the one that runs what must run once.

    A replica that loses the Lease keeps its shards, so it contends again.
    """
    return LeaderElection(
        name=sharding.name,
        namespace=sharding.namespace,
        lease_duration=sharding.lease_duration,
        renew_deadline=sharding.renew_deadline,
        retry_period=sharding.retry_period,
        release_on_stop=sharding.release_on_stop,
        on_loss=OnLoss.CONTEND,
        labels=sharding.labels,
    )
