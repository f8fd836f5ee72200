"""Wire a controller in one sentence: what it reconciles, what it owns, what else it watches."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Protocol, cast, overload

from typing_extensions import TypeVar

from pyctrl.api import GroupVersionKind, KindLike, KubernetesObject, Unstructured, kind_argument, kind_of
from pyctrl.controller._controller import Controller
from pyctrl.controller._handlers import Handler, for_object, for_owner
from pyctrl.controller._kind_source import KindSource
from pyctrl.controller._limiter import RateLimiter
from pyctrl.controller._options import ControllerOptions
from pyctrl.controller._predicates import Predicate
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._sources import Source
from pyctrl.errors import BuilderError, DuplicateName, NotRegistered
from pyctrl.rbac import Permission, allow

if TYPE_CHECKING:
    from pyctrl.cache import Cache, CachedClient
    from pyctrl.client import Client, EventRecorder

__all__ = ["Builder", "Host"]

T = TypeVar("T", default=Any)
K = TypeVar("K", bound=KubernetesObject | Unstructured)

R = TypeVar("R", bound=KubernetesObject)


class Host(Protocol):
    """Where a controller lives: what the builder needs of a manager."""

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


@dataclass(frozen=True, slots=True)
class _Owned:
    kind: KindLike
    predicates: tuple[Predicate[Any], ...]
    every_owner: bool


@dataclass(frozen=True, slots=True)
class _Watched:
    kind: KindLike
    handler: Handler[Any]
    predicates: tuple[Predicate[Any], ...]


class Builder(Generic[T]):
    """Make a controller and give it to its host.

        Builder(manager).reconciles(PodSet).owns(Deployment).options(workers=2).build(PodSetReconciler())

    Each kind that is named gets an informer in the host's cache. Nothing happens before `build`, which checks the
    whole and raises a `BuilderError` that says what to change.

    A class that says it all itself (``Reconciler[PodSet]``, with ``owns`` and ``watches``) needs nothing but
    ``Builder(manager).build(PodSetReconciler())``. What it owns and watches is added in any case.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._reconciled: _Watched | None = None
        self._owned: list[_Owned] = []
        self._watched: list[_Watched] = []
        self._sources: list[Source] = []
        self._filters: list[Predicate[Any]] = []
        self._options = ControllerOptions()

    @overload
    def reconciles(self, kind: type[R], *, predicates: Iterable[Predicate[R]] = ()) -> Builder[R]: ...
    @overload
    def reconciles(
        self, kind: GroupVersionKind, *, predicates: Iterable[Predicate[Unstructured]] = ()
    ) -> Builder[Unstructured]: ...
    def reconciles(self, kind: KindLike, *, predicates: Iterable[Predicate[Any]] = ()) -> Builder[Any]:
        """Name the kind the controller looks after: each change of an object asks for that object.

        Raises:
            BuilderError: it was named already, or is no kind.
        """
        _check_kind("reconciles", kind)
        if self._reconciled is not None:
            raise BuilderError(
                f"reconciles() was called twice, with {kind_of(self._reconciled.kind)} and {kind_of(kind)}; "
                "a controller looks after one kind: use watches() for another one, or a second controller"
            )
        self._reconciled = _Watched(kind, for_object, tuple(predicates))
        return self

    def owns(
        self, kind: KindLike, *, predicates: Iterable[Predicate[Any]] = (), every_owner: bool = False
    ) -> Builder[T]:
        """Name a kind whose objects are made by this controller: each change asks for the object that owns it.

        With ``every_owner`` each owner reference of the reconciled kind counts, not only the controller's.
        """
        _check_kind("owns", kind)
        self._owned.append(_Owned(kind, tuple(predicates), every_owner))
        return self

    def watches(
        self, kind: type[K] | GroupVersionKind, handler: Handler[K], *, predicates: Iterable[Predicate[K]] = ()
    ) -> Builder[T]:
        """Name any other kind, with a handler that says what to reconcile when an object of it changes.

        The handler of a kind without a class is given `Unstructured` objects.
        """
        watched = _check_kind("watches", kind)
        if not callable(handler):
            raise BuilderError(
                f"watches() takes a handler, such as mapped(function) or for_owner(kind); got {handler!r}"
            )
        self._watched.append(_Watched(watched, handler, tuple(predicates)))
        return self

    def watches_source(self, source: Source) -> Builder[T]:
        """Add any other source: a `ChannelSource`, a `TickSource`, one of your own. `filter` does not apply to it."""
        self._sources.append(source)
        return self

    def filter(self, *predicates: Predicate[Any]) -> Builder[T]:
        """Let only those changes of all kinds through that each of these predicates accepts."""
        self._filters += predicates
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
        self._options = replace(self._options, **changes)
        return self

    def build(self, reconciler: Reconciler[T]) -> Controller:
        """Make the controller, give its reconciler the host's client and a recorder, and add it to the host.

        Raises:
            BuilderError: something is missing or contradictory.
            DuplicateName: the host has a controller of this name.
        """
        if not isinstance(reconciler, Reconciler):
            raise BuilderError(f"build() takes an instance of a Reconciler, got {reconciler!r}")
        self._take_declared(reconciler)
        name = self._name()
        sources = self._make_sources(name)
        if name in self._host.controller_names:
            raise DuplicateName(name)
        controller = Controller(
            name,
            reconciler,
            sources,
            kind=kind_of(self._reconciled.kind) if self._reconciled else None,
            rbac=self._wiring(),
            options=self._options,
            random=self._host.random,
        )
        self._host.add(controller)
        reconciler.client = self._host.client
        reconciler.recorder = self._host.event_recorder(name)
        return controller

    def _take_declared(self, reconciler: Reconciler[T]) -> None:
        """Add what the class says, as if it had been said here; the kind only where nothing else was."""
        if not (self._reconciled or self._owned or self._watched or self._sources):
            kind = kind_argument(type(reconciler), Reconciler)
            if kind is not None:
                self.reconciles(kind)
        said = {kind_of(owned.kind) for owned in self._owned}
        for owned_kind in reconciler.owns:
            if _check_kind("owns", owned_kind) and kind_of(owned_kind) not in said:
                self.owns(owned_kind)
        for watched_kind, handler in reconciler.watches:
            self.watches(cast(Any, watched_kind), handler)

    def _name(self) -> str:
        if self._options.name is not None:
            return self._options.name
        if self._reconciled is None:
            raise BuilderError("a controller needs a name: call reconciles(kind), or options(name=...)")
        return kind_of(self._reconciled.kind).kind.lower()

    def _wiring(self) -> tuple[Permission, ...]:
        """Owning takes the right to set the owner's finalizers, where the cluster checks who blocks its deletion.

        A controller reference says ``blockOwnerDeletion``, and where the admission plugin
        OwnerReferencesPermissionEnforcement is on, as in OpenShift, only those may who could block it anyway.
        """
        if self._reconciled is None or not self._owned:
            return ()
        return (allow(self._reconciled.kind, "update", subresource="finalizers", essential=False),)

    def _make_sources(self, name: str) -> list[Source]:
        watched = [self._reconciled] if self._reconciled is not None else []
        for owned in self._owned:
            if self._reconciled is None:
                raise BuilderError(f"owns({kind_of(owned.kind)}) needs reconciles(): whose objects are the owners?")
            handler = for_owner(self._reconciled.kind, every=owned.every_owner)
            watched.append(_Watched(owned.kind, handler, owned.predicates))
        watched += self._watched
        if not watched and not self._sources:
            raise BuilderError(
                f"controller {name!r} watches nothing and would never run: "
                "call reconciles(), watches() or watches_source()"
            )
        client = self._host.client
        return [KindSource(client, w.kind, w.handler, (*self._filters, *w.predicates)) for w in watched] + self._sources


def _check_kind(method: str, kind: object) -> KindLike:
    try:
        kind_of(cast(KindLike, kind))
    except NotRegistered as error:
        raise BuilderError(
            f"{method}() takes a kind: a class with group= and version=, Metadata[...] of one, "
            f"or a GroupVersionKind; got {kind!r}"
        ) from error
    return cast(KindLike, kind)
