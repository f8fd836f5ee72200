"""What a user writes: a Reconciler, called with a Request, answering with a Result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from typing_extensions import TypeVar

from pyctrl.api import Key

if TYPE_CHECKING:
    from pyctrl.api import KindLike, Object
    from pyctrl.cache import CachedClient
    from pyctrl.client import EventRecorder
    from pyctrl.controller._handlers import Handler
    from pyctrl.rbac import Permission

__all__ = ["Reconciler", "Request", "Result"]

#: The kind that a reconciler looks after; only type checkers use it.
T = TypeVar("T", contravariant=True, default=Any)


class Request(NamedTuple):
    """Which object to reconcile. Never why: a reconciler looks at the state of the world, not at events."""

    namespace: str
    name: str
    #: The cluster the object lives in; "" for the cluster of the manager.
    cluster: str = ""

    @classmethod
    def of(cls, obj: Object) -> Request:
        """Return the request for an object."""
        return cls(obj.metadata.namespace, obj.metadata.name)

    @property
    def key(self) -> Key:
        """The object's key, for reads: ``await self.client.find(PodSet, request.key)``."""
        return Key(self.namespace, self.name)

    def __str__(self) -> str:
        return f"{self.cluster}:{self.key}" if self.cluster else str(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a reconcile that succeeded wants next; a failed one raises.

    Returning None, ``Result()`` or ``Result.done()`` is the same: wait for the next change.
    """

    #: Run again after this long, at the latest. A change that comes earlier runs earlier, and the deadline stays unless
    #: that run sets a new one. Zero means at once, after the rate limiter's delay: 5 ms, doubled with each run that
    #: returns zero again, up to 1000 s, and back to 5 ms when a run ends otherwise. That is no error. A negative delay
    #: counts as zero, with a warning.
    requeue_after: timedelta | None = None
    #: The place in line of that next run; by default the one this run had.
    priority: int | None = None

    @classmethod
    def done(cls) -> Result:
        """Return the result that wants nothing but the next change."""
        return cls()

    @classmethod
    def after(cls, delay: timedelta, *, priority: int | None = None) -> Result:
        """Return the result that wants to run again in ``delay`` at the latest; for zero see `requeue_after`."""
        return cls(requeue_after=delay, priority=priority)


class Reconciler(ABC, Generic[T]):
    """Bring one object of kind T closer to what its spec says.

    A subclass has one method, `reconcile`, and finds ``self.client`` and ``self.recorder`` there once the Builder has
    built it. For one request at most one reconcile runs at a time; for different requests as many as there are workers.
    Requests are merged: three changes in a row may be one call, and one call may have nothing to do.
    """

    #: Reads from the cache (its own writes included), writes to the server. Set by ``Builder.build``.
    client: CachedClient
    #: Tells of objects by Events, in the controller's name, without waiting. Set by ``Builder.build``.
    #: Who uses it declares `pyctrl.rbac.EVENTS`.
    recorder: EventRecorder
    #: What it does beyond reading what the builder watches: ``rbac = (allow(Deployment, "create", "patch"),)``.
    #: Roles are made of it, and the manager reviews it at start. An attribute of the class or, where it depends on
    #: options, of the object.
    rbac: Sequence[Permission] = ()
    #: The kinds whose objects it makes, as ``Builder.owns`` takes them: ``owns = (Deployment,)``.
    owns: Sequence[KindLike] = ()
    #: Other kinds with the handlers that say what to reconcile, as ``Builder.watches`` takes them:
    #: ``watches = ((Pod, mapped(podset_of)),)``.
    watches: Sequence[tuple[KindLike, Handler[Any]]] = ()

    @abstractmethod
    async def reconcile(self, request: Request) -> Result | None:
        """Look at the object and at what belongs to it, and make the next step.

        Raises:
            TerminalError: trying again cannot help; the next change of the object runs it again.
            Exception: anything else is tried again, later each time (5 ms to 1000 s).
        """
