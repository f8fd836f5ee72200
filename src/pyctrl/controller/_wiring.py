"""The wiring that a builder collects, from which it makes a controller in one cluster or in each cluster of a fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct, field
from msgspec.structs import replace

from pyctrl.api import KindLike, kind_argument, kind_of
from pyctrl.controller._controller import Controller
from pyctrl.controller._declarations import check_declarations
from pyctrl.controller._handlers import Handler, OwnerHandler, for_object, for_owner, no_requests
from pyctrl.controller._managed_cluster import ManagedCluster, ManagedFleet
from pyctrl.controller._object_reconciler import ObjectReconciler
from pyctrl.controller._options import Absence, ControllerOptions
from pyctrl.controller._predicates import Predicate
from pyctrl.controller._reads.reading import Reading, as_reading
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.source import Source
from pyctrl.controller._sources.subscription import SubscriptionSource
from pyctrl.controller._stale_owners import StaleOwners
from pyctrl.errors import BuilderError, NotRegistered
from pyctrl.rbac import Permission, allow

__all__ = ["ReadsInput", "WatchesInput", "Wiring"]


class WatchesInput(Struct, frozen=True):
    """A kind to watch, with handler and predicates; ``where`` is None for the cluster of the controller."""

    kind: KindLike
    handler: Handler[Any]
    predicates: tuple[Predicate[Any], ...] = ()
    where: ManagedCluster | ManagedFleet | None = None
    absence: Absence = Absence.FAULT


class ReadsInput(Struct, frozen=True):
    """A kind that the reconciler reads; ``where`` is None for the cluster of the controller."""

    reading: Reading
    predicates: tuple[Predicate[Any], ...] = ()
    where: ManagedCluster | ManagedFleet | None = None

    @property
    def absence(self) -> Absence:
        """How the controller takes it that the cluster does not serve the kind."""
        return Absence.IGNORE if self.reading.optional else Absence.FAULT


class Wiring(Struct):
    """The parts of a controller, independent of the cluster that it will run in."""

    reconciled: WatchesInput | None = None
    owned: list[tuple[WatchesInput, bool]] = field(default_factory=list)  # with: whether every owner reference counts
    watched: list[WatchesInput] = field(default_factory=list)
    read: list[ReadsInput] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    filters: list[Predicate[Any]] = field(default_factory=list)
    options: ControllerOptions = field(default_factory=ControllerOptions)

    @property
    def name(self) -> str:
        """The name of the controller."""
        if self.options.name is not None:
            return self.options.name
        if self.reconciled is None:
            raise BuilderError("a controller needs a name: call reconciles(kind), or options(name=...)")
        return kind_of(self.reconciled.kind).kind.lower()

    def reconcile(
        self, kind: KindLike, predicates: tuple[Predicate[Any], ...] = (), *, absence: Absence = Absence.FAULT
    ) -> None:
        """Set the kind that the controller reconciles. Raises BuilderError."""
        _check_kind("reconciles", kind)
        if self.reconciled is not None:
            raise BuilderError(
                f"reconciles() was called twice, with {kind_of(self.reconciled.kind)} and {kind_of(kind)}; "
                "a controller reconciles one kind: use watches() for another one, or a second controller"
            )
        self.reconciled = WatchesInput(kind, for_object, predicates, absence=absence)

    def own(
        self,
        kind: KindLike,
        predicates: tuple[Predicate[Any], ...] = (),
        *,
        every_owner: bool = False,
        where: ManagedCluster | ManagedFleet | None = None,
        absence: Absence = Absence.FAULT,
    ) -> None:
        """Add a kind whose objects the controller creates. Raises BuilderError."""
        _check_kind("owns", kind)
        self.owned.append((WatchesInput(kind, for_object, predicates, where, absence), every_owner))

    def watch(
        self,
        kind: KindLike,
        handler: Handler[Any],
        predicates: tuple[Predicate[Any], ...] = (),
        *,
        where: ManagedCluster | ManagedFleet | None = None,
        absence: Absence = Absence.FAULT,
    ) -> None:
        """Add any other kind. Raises BuilderError."""
        _check_kind("watches", kind)
        if not callable(handler):
            raise BuilderError(
                f"watches() takes a handler, such as mapped(function) or for_owner(kind); got {handler!r}"
            )
        self.watched.append(WatchesInput(kind, handler, predicates, where, absence))

    def reads(
        self,
        declared: KindLike | Reading,
        predicates: tuple[Predicate[Any], ...] = (),
        *,
        where: ManagedCluster | ManagedFleet | None = None,
    ) -> None:
        """Add a kind that the reconciler reads. Raises BuilderError."""
        if not isinstance(declared, Reading):
            _check_kind("reads", declared)
        self.read.append(ReadsInput(as_reading(declared), predicates, where))

    def with_declared(self, reconciler: Reconciler[Any]) -> Wiring:
        """Return this wiring with the kinds that the reconciler's class declares.

        The reconciled kind is taken from the class only if the builder was given no kind and no source.
        """
        check_declarations(reconciler)
        whole = replace(self, owned=[*self.owned], watched=[*self.watched], read=[*self.read])
        if not (self.reconciled or self.owned or self.watched or self.sources):
            kind = kind_argument(type(reconciler), Reconciler)
            if kind is not None:
                whole.reconcile(kind)
        known = {kind_of(owned.kind) for owned, _ in self.owned}
        for owned_kind in reconciler.owns:
            if _check_kind("owns", owned_kind) and kind_of(owned_kind) not in known:
                whole.own(owned_kind)
        for watched_kind, handler in reconciler.watches:
            whole.watch(watched_kind, handler)
        read = {kind_of(each.reading.kind) for each in self.read}
        for declared in map(as_reading, reconciler.reads):
            if kind_of(declared.kind) not in read:
                whole.reads(declared)
        return whole

    def controller(self, host: ManagedCluster, reconciler: Reconciler[Any]) -> Controller:
        """Make the controller for a cluster, and set client and recorder of its reconciler.

        Raises:
            BuilderError: the wiring is incomplete or contradictory.
        """
        return self.with_declared(reconciler)._make(host, reconciler)

    def _make(self, host: ManagedCluster, reconciler: Reconciler[Any]) -> Controller:
        subscriptions = self._subscriptions(host)
        controller = Controller(
            self.name,
            reconciler,
            [*self._sources(host), *(self._reads_source(host, each, subscriptions) for each in self.read)],
            kind=kind_of(self.reconciled.kind) if self.reconciled else None,
            rbac=(*self._owner_rbac(), *self._finalizer_rbac(reconciler)),
            options=self.options,
            random=host.random,
            cluster=host.client.cluster,
            stale_owners=StaleOwners(host.client, self.reconciled.kind) if self.reconciled else None,
            subscriptions=subscriptions,
        )
        if isinstance(reconciler, ObjectReconciler):
            reconciler.kind = self._object_kind(reconciler)
        reconciler.client = host.client
        reconciler.recorder = host.event_recorder(self.name)
        return controller

    def _object_kind(self, reconciler: ObjectReconciler[Any]) -> KindLike:
        """Return the kind that the controller reconciles, or the one that the class names."""
        kind: KindLike | None = self.reconciled.kind if self.reconciled else getattr(reconciler, "kind", None)
        if kind is None:
            name = type(reconciler).__name__
            raise BuilderError(
                f"{name} has no kind: write class {name}(ObjectReconciler[KIND]), or call reconciles(KIND)"
            )
        return kind

    def _finalizer_rbac(self, reconciler: Reconciler[Any]) -> tuple[Permission, ...]:
        if isinstance(reconciler, ObjectReconciler) and reconciler.finalizers is not None:
            return (allow(self._object_kind(reconciler), "patch"),)
        return ()

    def _owner_rbac(self) -> tuple[Permission, ...]:
        """Return the permission to update the owner's finalizers, if there are owned kinds.

        A controller reference sets ``blockOwnerDeletion``. The admission plugin OwnerReferencesPermissionEnforcement,
        as in OpenShift, allows that only to users who may set the owner's finalizers.
        """
        if self.reconciled is None or not self.owned:
            return ()
        return (allow(self.reconciled.kind, "update", subresource="finalizers", essential=False),)

    def _sources(self, host: ManagedCluster) -> list[Source]:
        watched = [self.reconciled] if self.reconciled is not None else []
        watched += [self._owner_watched(each, every) for each, every in self.owned]
        watched += self.watched
        if not watched and not self.sources:
            raise BuilderError(
                f"controller {self.name!r} watches nothing and would never run: "
                "call reconciles(), watches() or watches_source()"
            )
        return [self._source(host, each) for each in watched] + self.sources

    def _owner_watched(self, owned: WatchesInput, every: bool) -> WatchesInput:
        if self.reconciled is None:
            raise BuilderError(f"owns({kind_of(owned.kind)}) needs reconciles(), which names the kind of the owners")
        return replace(owned, handler=for_owner(self.reconciled.kind, every=every))

    def _source(self, host: ManagedCluster, watched: WatchesInput) -> Source:
        where = host if watched.where is None else watched.where  # not `or`: an empty fleet is false
        predicates = (*self.filters, *watched.predicates)
        if where is not host and isinstance(watched.handler, OwnerHandler):
            self._check_owner(host, where, watched.kind, watched.handler)
        return _source_in(
            where,
            lambda cluster: KindSource(
                cluster.client,
                watched.kind,
                watched.handler,
                predicates,
                is_elsewhere=cluster.client.cluster != host.client.cluster,
                is_reconciled=watched is self.reconciled,
                absence=watched.absence,
            ),
        )

    def _reads_source(self, host: ManagedCluster, read: ReadsInput, subscriptions: Subscriptions) -> Source:
        """Return the source of a kind that is read: with subscriptions, or without any request."""
        reading = read.reading

        def make(cluster: ManagedCluster) -> KindSource:
            options: dict[str, Any] = {
                "is_elsewhere": cluster.client.cluster != host.client.cluster,
                "absence": read.absence,
                "namespaces": reading.namespaces,
                "names": reading.names,
            }
            if not reading.triggers:
                return KindSource(cluster.client, reading.kind, no_requests, **options)
            predicates = (*self.filters, *read.predicates)
            return SubscriptionSource(cluster.client, reading.kind, subscriptions, reading.of, predicates, **options)

        return _source_in(host if read.where is None else read.where, make)

    def _subscriptions(self, host: ManagedCluster) -> Subscriptions:
        reconciled = None if self.reconciled is None else host.cache.informer(self.reconciled.kind, optional=True)
        return Subscriptions(self.name, reconciled=reconciled, cluster=host.client.cluster)

    def _check_owner(
        self, host: ManagedCluster, where: ManagedCluster | ManagedFleet, kind: KindLike, handler: OwnerHandler
    ) -> None:
        """Refuse owners in another cluster: the garbage collector would delete the owned objects."""
        if isinstance(where, ManagedFleet) or where.client.cluster != host.client.cluster:
            there = where.name if isinstance(where, ManagedFleet) else where.client.cluster
            raise BuilderError(
                f"{kind_of(kind)} of cluster {there!r} cannot be owned by {handler.owner} of cluster "
                f"{host.client.cluster!r}: owner references hold within one cluster, and its garbage collector deletes "
                "what has an owner that is not there. Put the owner's name into a label or annotation, and watch with "
                "watches(kind, mapped(...), cluster=...)"
            )


def _source_in(where: ManagedCluster | ManagedFleet, make: Callable[[ManagedCluster], KindSource]) -> Source:
    """Return the source that a function makes for a cluster; for a fleet, one that makes it in each cluster."""
    if not isinstance(where, ManagedFleet):
        return make(where)
    from pyctrl.controller._sources.fleet import FleetKindSource  # here: most programs have one cluster

    return FleetKindSource(where, make)


def _check_kind(method: str, kind: object) -> KindLike:
    try:
        kind_of(cast(KindLike, kind))
    except NotRegistered as error:
        raise BuilderError(
            f"{method}() takes a kind: a class with group= and version=, Metadata[...] of one, "
            f"or a GroupVersionKind; got {kind!r}"
        ) from error
    return cast(KindLike, kind)
