"""The base class of reconcilers that receive the object instead of a request."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyctrl.api import Kind, ObjectLike, Unstructured, is_deleting, kind_argument
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._request import Request, Result

if TYPE_CHECKING:
    from pyctrl.controller._finalizers import Finalizers

__all__ = ["ObjectReconciler"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, as in pyctrl.client


class ObjectReconciler(Reconciler[O], Generic[O]):
    """A reconciler whose subclass receives the object: it implements `reconcile_object` instead of `reconcile`.

        class PodSetReconciler(ObjectReconciler[PodSet]):
            async def reconcile_object(self, podset: PodSet) -> None: ...

    `reconcile` reads the object from the cache and returns if there is none. It then adds the ``finalizers`` to the
    object or, if the object is being deleted, runs their handlers. `reconcile_object` is called only for an object that
    is not being deleted. controller-runtime's ``reconcile.ObjectReconciler`` is also called for objects that are being
    deleted. Implement `Reconciler` if you need to see those.
    """

    #: The kind of the objects: the argument of ``ObjectReconciler[PodSet]``, or what ``Builder.reconciles`` was given.
    kind: Kind[O]
    #: The finalizers of these objects, set in ``__init__`` or in the class body. The permission to patch the kind is
    #: derived from it. A handler that changes the status needs ``allow(KIND, "patch", subresource="status")`` as well.
    finalizers: Finalizers[O] | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Take the kind from the argument of the class."""
        super().__init_subclass__(**keywords)
        kind: Any = kind_argument(cls, ObjectReconciler)
        if kind is not None and kind is not Unstructured:  # which is of any kind
            cls.kind = kind

    async def reconcile(self, request: Request) -> Result | None:
        """Read the object, keep its finalizers, and call `reconcile_object` unless it is being deleted.

        Raises:
            Conflict: the finalizers are written, and the object has changed since it was read.
            Exception: what a finalizer's handler or `reconcile_object` raises.
        """
        obj = await self.client.find(self.kind, request.key)
        if obj is not None and self.finalizers is not None:
            obj = await self.finalizers.finalize_and_patch(self.client, obj)
        if obj is None or is_deleting(obj):
            return None
        return await self.reconcile_object(obj)

    @abstractmethod
    async def reconcile_object(self, obj: O, /) -> Result | None:
        """Read what belongs to the object, and make the next step towards its spec.

        The object is decoded for this call, so it may be changed.

        Raises:
            TerminalError: a retry cannot help; the object is reconciled again at its next change.
            Exception: any other error is retried with backoff (5 ms to 1000 s).
        """
