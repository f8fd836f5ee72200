"""The interfaces of clusters that controllers run in: one cluster of a manager, or all clusters of a fleet."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pyctrl.cache import Cache, CachedClient
    from pyctrl.client import Client, EventRecorder
    from pyctrl.controller._controller import Controller
    from pyctrl.controller._fleet_controller import FleetController

__all__ = ["ClusterAware", "ManagedCluster", "ManagedFleet"]


class ManagedCluster(Protocol):
    """A cluster in which a controller runs: a manager, for its home cluster, or a further cluster of it."""

    @property
    def client(self) -> CachedClient:
        """The client of reconcilers."""
        ...

    @property
    def live_client(self) -> Client:
        """The client that reads from the server."""
        ...

    @property
    def cache(self) -> Cache:
        """The cache, with the informers."""
        ...

    @property
    def random(self) -> Random:
        """The random generator for jitter and reconcile ids."""
        ...

    @property
    def controller_names(self) -> Collection[str]:
        """The names that are taken, by controllers that were added and have not ended."""
        ...

    def add(self, runnable: Controller, /) -> None:
        """Run a controller."""

    def event_recorder(self, name: str, /) -> EventRecorder:
        """Return the recorder of Events in the name of a controller."""
        ...


class ClusterAware(Protocol):
    """A component that works in each cluster of a fleet, as multicluster-runtime's Aware. Neither method raises."""

    def engage(self, cluster: ManagedCluster) -> None:
        """Begin to work in a cluster that has joined the fleet, or prepare for it."""

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """End the work in a cluster that leaves: gracefully within ``patience`` (None: without a limit), then at once.

        The cluster's cache and connection stay open until this returns.
        """


@runtime_checkable
class ManagedFleet(Protocol):
    """A changing set of clusters, such as a `pyctrl.manager.Fleet`. Each is a `ManagedCluster`."""

    @property
    def name(self) -> str:
        """The name under which permissions in all of these clusters are declared."""
        ...

    @property
    def blueprint(self) -> ManagedCluster:
        """A cluster like each of them that is never connected, for controllers whose permissions are to be found."""
        ...

    @property
    def controller_names(self) -> Collection[str]:
        """The names that are taken, by controllers that were added and have not ended."""
        ...

    def attach(self, aware: ClusterAware) -> None:
        """Let a component engage all clusters of the fleet, also those that join later."""

    def spread(self, controller: FleetController, /) -> None:
        """Run a controller in each of the clusters."""
