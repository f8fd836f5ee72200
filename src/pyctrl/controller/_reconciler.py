"""What a user writes: a Reconciler, called with a Request, answering with a Result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from pyctrl.controller._request import Request, Result

if TYPE_CHECKING:
    from pyctrl.api import KindLike
    from pyctrl.cache import CachedClient
    from pyctrl.client import EventRecorder
    from pyctrl.controller._handlers import Handler
    from pyctrl.rbac import Permission

__all__ = ["Reconciler"]

#: The kind that a reconciler looks after; only type checkers use it.
T = TypeVar("T", contravariant=True, default=Any)


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
