"""The base class of reconcilers, which users implement."""

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
    from pyctrl.controller._reads.reading import Reading
    from pyctrl.rbac import Permission

__all__ = ["Reconciler"]

#: The kind that a reconciler looks after; only type checkers use it.
T = TypeVar("T", contravariant=True, default=Any)


class Reconciler(ABC, Generic[T]):
    """Brings one object of kind T closer to the state that its spec describes.

    A subclass implements `reconcile`. ``Builder.build`` sets ``self.client`` and ``self.recorder``. For one request at
    most one reconcile runs at a time; for different requests, as many as there are workers. Requests are merged: three
    changes in a row may cause one call, and a call may find nothing to do.
    """

    #: Reads from the cache, own writes included, and writes to the server. Set by ``Builder.build``.
    client: CachedClient
    #: Records Events in the controller's name, without waiting. Set by ``Builder.build``. A reconciler that uses it
    #: declares `pyctrl.rbac.EVENTS`.
    recorder: EventRecorder
    #: The permissions that it needs besides those to watch: ``rbac = (allow(Deployment, "create", "patch"),)``. Roles
    #: are generated from it, and the manager reviews it at start. An attribute of the class or, where it depends on
    #: options, of the object.
    rbac: Sequence[Permission] = ()
    #: The kinds whose objects it creates, as for ``Builder.owns``: ``owns = (Deployment,)``.
    owns: Sequence[KindLike] = ()
    #: Other kinds, each with a handler, as for ``Builder.watches``: ``watches = ((Pod, mapped(podset_of)),)``.
    watches: Sequence[tuple[KindLike, Handler[Any]]] = ()
    #: The kinds that it reads, besides those above: ``reads = (Secret, ConfigMap)``. What a reconcile reads of them
    #: from ``self.client`` subscribes its request: a change of it causes the next reconcile. Options:
    #: `pyctrl.controller.reading`. Guarantees: `pyctrl.controller.Subscriptions`.
    reads: Sequence[KindLike | Reading] = ()

    @abstractmethod
    async def reconcile(self, request: Request) -> Result | None:
        """Read the object and what belongs to it, and make the next step towards its spec.

        Raises:
            TerminalError: a retry cannot help; the object is reconciled again at its next change.
            Exception: any other error is retried with backoff (5 ms to 1000 s).
        """
