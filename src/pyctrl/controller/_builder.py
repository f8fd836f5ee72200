"""The builder: wires a controller from the kinds that it reconciles, owns and watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, cast

from typing_extensions import TypeVar

from pyctrl.api import GroupVersionKind, Kind, KindLike, ObjectLike
from pyctrl.controller._controller import Controller
from pyctrl.controller._handlers import Handler, Requests
from pyctrl.controller._managed_cluster import ManagedCluster, ManagedFleet
from pyctrl.controller._options import Absence
from pyctrl.controller._predicates import Predicate
from pyctrl.controller._reads.reading import Reading
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._sources.source import Source
from pyctrl.controller._wiring import Wiring
from pyctrl.controller._workqueue.rate_limiters import RateLimiter
from pyctrl.errors import BuilderError, DuplicateName

if TYPE_CHECKING:
    from pyctrl.controller._fleet_controller import FleetController

__all__ = ["Builder"]

T = TypeVar("T", default=Any)
K = TypeVar("K", bound=ObjectLike)


class Builder(Generic[T]):
    """Makes a controller and adds it to a manager, cluster or fleet.

        Builder(manager).reconciles(PodSet).owns(Deployment).options(workers=2).build(PodSetReconciler())

    Each kind gets an informer in the cache. Nothing happens before `build`, which checks everything and raises a
    `BuilderError` that says what to change.

    A class that declares everything itself (``Reconciler[PodSet]``, with ``owns``, ``watches`` and ``reads``) needs
    only ``Builder(manager).build(PodSetReconciler())``. Its ``owns``, ``watches`` and ``reads`` are added in any case.
    """

    def __init__(self, host: ManagedCluster | ManagedFleet) -> None:
        self._host = host
        self._wiring = Wiring()

    def reconciles(
        self, kind: Kind[K], *, predicates: Iterable[Predicate[K]] = (), optional: bool = False
    ) -> Builder[K]:
        """Set the kind that the controller reconciles: each change of an object requests that object.

        While the cluster does not serve the kind, the controller waits and the manager is not ready. With ``optional``
        the controller rests, and the manager is ready.

        Raises:
            BuilderError: it was called before, or the argument is not a kind.
        """
        absence = Absence.REST if optional else Absence.FAULT
        self._wiring.reconcile(cast(KindLike, kind), tuple(predicates), absence=absence)
        return cast(Builder[K], self)

    def owns(
        self,
        kind: KindLike,
        *,
        predicates: Iterable[Predicate[Any]] = (),
        every_owner: bool = False,
        optional: bool = False,
        cluster: ManagedCluster | ManagedFleet | None = None,
    ) -> Builder[T]:
        """Add a kind whose objects this controller creates: each change requests the owner of the object.

        With ``every_owner`` each owner reference of the reconciled kind counts, not only the controller's. With
        ``optional`` the controller works without the kind while the cluster does not serve it, and follows it as soon
        as it is served; until then a read of it from the cache raises NotSynced.
        Owners are in the same cluster as the objects that they own: `build` refuses any other ``cluster``.
        """
        absence = Absence.IGNORE if optional else Absence.FAULT
        self._wiring.own(kind, tuple(predicates), every_owner=every_owner, where=cluster, absence=absence)
        return self

    def watches(
        self,
        kind: type[K] | GroupVersionKind,
        handler: Handler[K],
        *,
        predicates: Iterable[Predicate[K]] = (),
        optional: bool = False,
        cluster: ManagedCluster | ManagedFleet | None = None,
    ) -> Builder[T]:
        """Add any other kind, with a handler that maps a change of an object to requests.

        The handler of a kind without a class receives `Unstructured` objects. With ``cluster`` the kind is watched in
        another cluster than the controller's, or in each cluster of a fleet; ``change.cluster`` is its name. For
        ``optional`` see `owns`.
        """
        absence = Absence.IGNORE if optional else Absence.FAULT
        self._wiring.watch(cast(KindLike, kind), handler, tuple(predicates), where=cluster, absence=absence)
        return self

    def reads(
        self,
        kind: KindLike | Reading,
        *,
        predicates: Iterable[Predicate[Any]] = (),
        cluster: ManagedCluster | ManagedFleet | None = None,
    ) -> Builder[T]:
        """Add a kind that the reconciler reads from the cache: a change of what its last run has read runs it again.

        It needs no handler and no index; see `Subscriptions`. The kind may be the result of `reading`, for options.
        With ``cluster`` the reconciler reads the kind in another cluster, or in each cluster of a fleet.
        """
        self._wiring.reads(kind, tuple(predicates), where=cluster)
        return self

    def watches_clusters(self, fleet: ManagedFleet, handler: Callable[[str], Requests]) -> Builder[T]:
        """Add a function that maps the name of a cluster to requests, when the cluster joins or leaves a fleet.

        For a controller in the home cluster that manages objects in each cluster of the fleet: a new cluster has none
        yet that could change. The function is called once the caches of the cluster are synced.
        """
        from pyctrl.controller._sources.fleet import FleetMembershipSource  # here: most programs have one cluster

        return self.watches_source(FleetMembershipSource(fleet, handler))

    def watches_source(self, source: Source) -> Builder[T]:
        """Add any other source: a `ChannelSource`, a `TickSource`, one of your own. `filter` does not apply to it."""
        self._wiring.sources.append(source)
        return self

    def filter(self, *predicates: Predicate[Any]) -> Builder[T]:
        """Add predicates for the changes of all kinds; a change counts if each of them accepts it."""
        self._wiring.filters += predicates
        return self

    def options(
        self,
        *,
        name: str | None = None,
        workers: int | None = None,
        limiter: RateLimiter | None = None,
        only_leader: bool | None = None,
        reconcile_timeout: timedelta | None = None,
        cache_sync_timeout: timedelta | None = None,
        fingerprints: bool | None = None,
    ) -> Builder[T]:
        """Set options of the controller; see `ControllerOptions`."""
        given = {
            "name": name,
            "workers": workers,
            "limiter": limiter,
            "only_leader": only_leader,
            "reconcile_timeout": reconcile_timeout,
            "cache_sync_timeout": cache_sync_timeout,
            "fingerprints": fingerprints,
        }
        changes: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
        self._wiring.options = replace(self._wiring.options, **changes)
        return self

    def build(self, reconciler: Reconciler[T]) -> Controller:
        """Make the controller, set client and recorder of its reconciler, and add it to the manager or cluster.

        Raises:
            BuilderError: the wiring is incomplete or contradictory.
            DuplicateName: there is a controller of this name already.
        """
        if isinstance(self._host, ManagedFleet):
            raise BuilderError(
                "in a fleet each cluster has a reconciler of its own: call build_each() with its class, or with a "
                "function that makes one"
            )
        if not isinstance(reconciler, Reconciler):
            raise BuilderError(f"build() takes an instance of a Reconciler, got {reconciler!r}")
        controller = self._wiring.controller(self._host, reconciler)
        if controller.name in self._host.controller_names:
            raise DuplicateName(controller.name)
        self._host.add(controller)
        return controller

    def build_each(self, make_reconciler: Callable[[], Reconciler[T]]) -> FleetController:
        """Make a controller for each cluster of a fleet, also for those that join later.

        Each has its own reconciler, client, queue and workers, so that a reconciler for one cluster works unchanged in
        each. ``make_reconciler``, which may be the class, is called once now, to read what the reconciler declares, and
        then for each cluster.

        Raises:
            BuilderError: the wiring is incomplete or contradictory, or the builder is not for a fleet.
            DuplicateName: the fleet has a controller of this name already.
        """
        from pyctrl.controller._fleet_controller import FleetController  # here: most programs have one cluster

        hosts, wiring = self._host, copy(self._wiring)
        if not isinstance(hosts, ManagedFleet) or not callable(make_reconciler):
            raise BuilderError(
                "build_each() is for Builder(fleet), and takes the class of a reconciler or a function that makes one; "
                f"got {make_reconciler!r}"
            )
        if wiring.sources:
            raise BuilderError(f"{wiring.sources[0]} cannot add requests to the controllers of several clusters")
        controller = FleetController(lambda host: wiring.controller(host, make_reconciler()), hosts.blueprint)
        if controller.name in hosts.controller_names:
            raise DuplicateName(controller.name)
        hosts.spread(controller)
        return controller
