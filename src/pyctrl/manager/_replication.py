"""What a manager has because it is one of several replicas: leader election, sharding, or both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pyctrl._metrics import MetricFamily
from pyctrl.api import Key
from pyctrl.controller import Controller, ShardBy, ShardKey, slot_of_text
from pyctrl.errors import ManagerError
from pyctrl.manager._manager_metrics import leader_election_metrics
from pyctrl.manager._runnables.lifecycle import Lifecycle
from pyctrl.manager._runnables.runnable_group import Group

if TYPE_CHECKING:
    from pyctrl.client import Client, EventWriter
    from pyctrl.controller import ShardAssignment
    from pyctrl.manager._clusters.fleet import Fleet
    from pyctrl.manager._election.leader_elector import LeaderElector
    from pyctrl.manager._election.options import LeaderElection
    from pyctrl.manager._sharding.options import Sharding
    from pyctrl.manager._sharding.shard_caches import ShardCaches
    from pyctrl.manager._sharding.shard_member import ShardMember

__all__ = ["Replication"]


@runtime_checkable
class Shareable(Protocol):
    """A controller, or one of a fleet, whose requests replicas may divide."""

    @property
    def is_shareable(self) -> bool:
        """Whether its option ``only_leader`` is not set."""
        ...

    def share(self, assignment: ShardAssignment, key: ShardKey) -> None:
        """Reconcile only the requests whose shard this replica has."""


class Replication:
    """The leader elector and the member of the ring of one replica, each only if its options are given.

    Args:
        election: elects a leader. With ``sharding`` there is always one, for runnables that run once.
        sharding: divides the requests of controllers among replicas.
        lifecycle: runs both.
        random: the source of jitter and identities.
    """

    def __init__(
        self, election: LeaderElection | None, sharding: Sharding | None, lifecycle: Lifecycle, random: Random
    ) -> None:
        self._sharding, self._lifecycle, self._random = sharding, lifecycle, random
        self._election = election
        if sharding is not None and election is None:
            from pyctrl.manager._sharding.options import election_of

            self._election = election_of(sharding)
        #: None without leader election, and before `connect`.
        self.elector: LeaderElector | None = None
        #: None without sharding, and before `connect`.
        self.member: ShardMember | None = None

    def check(self, *, knows_namespace: bool) -> None:
        """Check that the Leases have a namespace.

        Raises:
            ManagerError: they have none.
        """
        for options in (self._election, self._sharding):
            if options is not None and options.namespace is None and not knows_namespace:
                name = type(options).__name__
                raise ManagerError(
                    f"a manager with client=... does not know its own namespace: set {name}(namespace=...)"
                )

    def connect(self, client: Client, events: EventWriter, own_namespace: str) -> None:
        """Make the elector and the member, and add them to the lifecycle."""
        from pyctrl.manager._election.leader_elector import LeaderElector, make_identity
        from pyctrl.manager._election.options import OnLoss

        if (sharding := self._sharding) is not None:
            from pyctrl.manager._sharding.shard_member import ShardMember  # here: off by default

            self.member = ShardMember(
                client,
                sharding,
                namespace=sharding.namespace or own_namespace,
                identity=sharding.identity or make_identity(events.host, self._random),
                random=self._random,
                ending=self._lifecycle.ending,
            )
            self._lifecycle.add(self.member, Group.SHARDING)
            if sharding.memory == "label":
                self._keep_labels(client, self.member.slots.caches)
        if (election := self._election) is not None:
            self.elector = LeaderElector(
                client,
                election,
                self._lifecycle,
                key=Key(election.namespace or own_namespace, election.name),
                identity=election.identity or make_identity(events.host, self._random),
                random=self._random,
                recorder=events.recorder(election.name),
            )
            self._lifecycle.elect(self.elector, self.elector, restarts=election.on_loss is OnLoss.CONTEND)

    def _keep_labels(self, client: Client, caches: ShardCaches) -> None:
        from pyctrl.manager._sharding.shard_labels import ShardLabelKeeper, ShardLabels  # here: off by default

        labels = ShardLabels(client, caches)
        client.mutate_writes(labels)
        self._lifecycle.add(labels, Group.OTHERS)
        self._lifecycle.add(ShardLabelKeeper(client, labels, self._random), Group.ELECTED)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to connect."""
        return self._election is not None

    def share(self, runnable: object) -> None:
        """Divide the requests of a controller among replicas, unless its option ``only_leader`` says otherwise."""
        if self.member is None or self._sharding is None:
            return
        if isinstance(runnable, Shareable) and runnable.is_shareable:
            runnable.share(self.member.slots, self._sharding.key)

    def share_caches(self, controllers: Iterable[Controller]) -> None:
        """Let caches have only the objects of this replica, if the option says so; called before they run."""
        if self.member is not None:
            self.member.slots.caches.adopt(controllers)

    def share_fleet(self, fleet: Fleet) -> None:
        """Connect to the clusters of this replica only, if requests are divided by cluster."""
        if self.member is not None and self._sharding is not None and self._sharding.key is ShardBy.CLUSTER:
            slots = self.member.slots
            slots.on_move(fleet.share(lambda cluster: slots.has(slot_of_text(cluster))))

    @property
    def problems(self) -> Mapping[str, str]:
        """Why this replica does not take its part, by the name of what does not work."""
        why = "" if self.member is None else self.member.problem
        return {"sharding": why} if why else {}

    @property
    def held_lease(self) -> tuple[str, float] | None:
        """The Lease of the leader and its renew deadline, which a blocked event loop would miss; None for none."""
        return self.elector.held_lease if self.elector is not None else None

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the metrics of leader election and sharding."""
        if self._election is not None and self.elector is not None:
            yield from leader_election_metrics(self._election.name, self.elector.statistics())
        if self._sharding is not None and self.member is not None:
            from pyctrl.manager._sharding.metrics import sharding_metrics

            yield from sharding_metrics(self._sharding.name, self.member.statistics())
