"""Wire a controller in one sentence: what it reconciles, what it owns, what else it watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, cast

from typing_extensions import TypeVar

from pyctrl.api import GroupVersionKind, Kind, KindLike, KubernetesObject, Unstructured
from pyctrl.controller._controller import Controller
from pyctrl.controller._handlers import Handler, Requests
from pyctrl.controller._managed_cluster import ManagedCluster, ManagedFleet
from pyctrl.controller._options import Absence
from pyctrl.controller._predicates import Predicate
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._sources.source import Source
from pyctrl.controller._wiring import Wiring
from pyctrl.controller._workqueue.rate_limiters import RateLimiter
from pyctrl.errors import BuilderError, DuplicateName

if TYPE_CHECKING:
    from pyctrl.controller._fleet_controller import FleetController

__all__ = ["Builder"]

T = TypeVar("T", default=Any)
K = TypeVar("K", bound=KubernetesObject | Unstructured)


class Builder(Generic[T]):
    """Make a controller and give it to its host.

        Builder(manager).reconciles(PodSet).owns(Deployment).options(workers=2).build(PodSetReconciler())

    Each kind that is named gets an informer in the host's cache. Nothing happens before `build`, which checks the
    whole and raises a `BuilderError` that says what to change.

    A class that says it all itself (``Reconciler[PodSet]``, with ``owns`` and ``watches``) needs nothing but
    ``Builder(manager).build(PodSetReconciler())``. What it owns and watches is added in any case.
    """

    def __init__(self, host: ManagedCluster | ManagedFleet) -> None:
        self._host = host
        self._wiring = Wiring()

    def reconciles(
        self, kind: Kind[K], *, predicates: Iterable[Predicate[K]] = (), optional: bool = False
    ) -> Builder[K]:
        """Name the kind the controller looks after: each change of an object asks for that object.

        While the cluster does not serve the kind, the controller waits and the manager is not ready; with ``optional``
        nothing is wrong then, the controller rests.

        Raises:
            BuilderError: it was named already, or is no kind.
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
        """Name a kind whose objects are made by this controller: each change asks for the object that owns it.

        With ``every_owner`` each owner reference of the reconciled kind counts, not only the controller's. With
        ``optional`` the controller works without the kind while the cluster does not serve it, and follows it as soon
        as it does; until then, reading it from the cache raises NotSynced.
        Owners are in the cluster of what they own: any other ``cluster`` is refused by `build`, which says what to do.
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
        """Name any other kind, with a handler that says what to reconcile when an object of it changes.

        The handler of a kind without a class is given `Unstructured` objects. With ``cluster`` the kind is watched in
        another cluster than the controller's own, or in each of a fleet; ``observed.cluster`` tells the handler where.
        ``optional`` is as for `owns`.
        """
        absence = Absence.IGNORE if optional else Absence.FAULT
        self._wiring.watch(cast(KindLike, kind), handler, tuple(predicates), where=cluster, absence=absence)
        return self

    def watches_clusters(self, fleet: ManagedFleet, handler: Callable[[str], Requests]) -> Builder[T]:
        """Have a function say what to reconcile when a cluster of a fleet has come, or has left: by its name.

        For a controller of home that keeps something in each cluster: one that is new has nothing yet that would
        change. It is asked when the caches of the cluster are filled.
        """
        from pyctrl.controller._sources.fleet import FleetMembershipSource  # here: most programs have one cluster

        return self.watches_source(FleetMembershipSource(fleet, handler))

    def watches_source(self, source: Source) -> Builder[T]:
        """Add any other source: a `ChannelSource`, a `TickSource`, one of your own. `filter` does not apply to it."""
        self._wiring.sources.append(source)
        return self

    def filter(self, *predicates: Predicate[Any]) -> Builder[T]:
        """Let only those changes of all kinds through that each of these predicates accepts."""
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
    ) -> Builder[T]:
        """Change options; what they mean, and what they are otherwise, is with `ControllerOptions`."""
        given = {
            "name": name,
            "workers": workers,
            "limiter": limiter,
            "only_leader": only_leader,
            "reconcile_timeout": reconcile_timeout,
            "cache_sync_timeout": cache_sync_timeout,
        }
        changes: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
        self._wiring.options = replace(self._wiring.options, **changes)
        return self

    def build(self, reconciler: Reconciler[T]) -> Controller:
        """Make the controller, give its reconciler the host's client and a recorder, and add it to the host.

        Raises:
            BuilderError: something is missing or contradictory.
            DuplicateName: the host has a controller of this name.
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
        """Make a controller for each cluster of a fleet, of those that are there and of those that come.

        Each has its own reconciler, client, queue and workers, so that a reconciler that was written for one cluster
        works unchanged in every one. ``make_reconciler``, which may be its class, is called once now, for what the
        reconciler declares, and then for each cluster that comes.

        Raises:
            BuilderError: something is missing or contradictory, or the host is no fleet.
            DuplicateName: the fleet has a controller of this name.
        """
        from pyctrl.controller._fleet_controller import FleetController  # here: most programs have one cluster

        hosts, wiring = self._host, copy(self._wiring)
        if not isinstance(hosts, ManagedFleet) or not callable(make_reconciler):
            raise BuilderError(
                "build_each() is for Builder(fleet), and takes the class of a reconciler or a function that makes one; "
                f"got {make_reconciler!r}"
            )
        if wiring.sources:
            raise BuilderError(f"{wiring.sources[0]} cannot feed the controllers of several clusters at once")
        controller = FleetController(lambda host: wiring.controller(host, make_reconciler()), hosts.blueprint)
        if controller.name in hosts.controller_names:
            raise DuplicateName(controller.name)
        hosts.spread(controller)
        return controller
