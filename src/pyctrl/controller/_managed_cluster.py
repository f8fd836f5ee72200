"""Where controllers live: a cluster of a manager, or every cluster of a fleet."""

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
    """Where a controller lives: what the builder needs of a manager, which is its home cluster, or of another one."""

    @property
    def client(self) -> CachedClient:
        """What reconcilers read and write with."""
        ...

    @property
    def live_client(self) -> Client:
        """Reads and writes on the server."""
        ...

    @property
    def cache(self) -> Cache:
        """Where informers are."""
        ...

    @property
    def random(self) -> Random:
        """Where jitter and reconcile ids come from."""
        ...

    @property
    def controller_names(self) -> Collection[str]:
        """The names that are taken, by controllers that were added and have not ended."""
        ...

    def add(self, runnable: Controller, /) -> None:
        """Run a controller."""

    def event_recorder(self, name: str, /) -> EventRecorder:
        """Return what tells of objects in the name of a controller."""
        ...


class ClusterAware(Protocol):
    """Somebody who does something in each cluster of a fleet. Neither method raises."""

    def engage(self, cluster: ManagedCluster) -> None:
        """Take up work in a cluster that has come, or prepare for it."""

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """End what is done in a cluster that goes: in order for as long as ``patience`` lasts (None: for ever).

        The cluster's cache and its connection last until this returns.
        """


@runtime_checkable
class ManagedFleet(Protocol):
    """Clusters that come and go, such as a `pyctrl.manager.Fleet`: each is a `ManagedCluster`."""

    @property
    def name(self) -> str:
        """What rights in all of these clusters are declared under."""
        ...

    @property
    def blueprint(self) -> ManagedCluster:
        """A cluster that is as each of them and is never connected: what is made on it says what it will need."""
        ...

    @property
    def controller_names(self) -> Collection[str]:
        """The names that are taken, by controllers that were added and have not ended."""
        ...

    def attach(self, aware: ClusterAware) -> None:
        """Let a tenant join all clusters that are there, and those that come."""

    def spread(self, controller: FleetController, /) -> None:
        """Run a controller in each of them."""
