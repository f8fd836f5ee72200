"""Adoption and release of dependents by a controller.

Objects without a controller that match an owner's selector are adopted; controlled objects that no longer match are
released. The rules are those of kube-controller-manager's ControllerRefManager
(pkg/controller/controller_ref_manager.go).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar

from pyctrl.api import (
    KubernetesObject,
    LabelSelector,
    is_controlled_by,
    is_deleting,
    owner_reference,
)
from pyctrl.cache import CachedClient, Record
from pyctrl.client import JsonPatch
from pyctrl.controller import Handler, ManagedCluster, ObjectChange, Request
from pyctrl.errors import Conflict, Invalid, NotFound
from pyctrl.kinds.meta.v1 import LabelSelector as LabelSelectorSpec

__all__ = ["ControllerRefManager", "enqueue_adopters", "index_orphans", "label_selector"]

ORPHANS = "orphans"  # the index of objects without a controller, by namespace
OWNED = "owner"  # the cache's built-in index, by the uid of owners

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741 - the kind of the dependents
W = TypeVar("W", bound=KubernetesObject)  # the kind of the owners


def index_orphans(host: ManagedCluster, kind: type[KubernetesObject]) -> None:
    """Add the cache index of the objects of a kind that have no controller."""
    host.cache.informer(kind).lister.add_index(
        ORPHANS, lambda record: () if _has_controller(record) else (record.namespace,)
    )


def _has_controller(record: Record) -> bool:
    return any(owner.controller for owner in record.owners)


def label_selector(selector: LabelSelectorSpec) -> LabelSelector:
    """Return the selector of the dependents of a workload."""
    if selector.match_expressions:
        return LabelSelector.from_wire(selector)
    return LabelSelector.from_dict(selector.match_labels)  # nearly always; the object need not be encoded


class ControllerRefManager(Generic[O]):
    """Claims the dependents of an owner: adopts, releases and returns them.

    Args:
        client: reads from the cache; the kind needs `index_orphans`.
        kind: the kind of the dependents.
        finalizer: added to adopted objects and removed from released ones.
    """

    def __init__(self, client: CachedClient, kind: type[O], *, finalizer: str = "") -> None:
        self._client, self._kind, self._finalizer = client, kind, finalizer

    async def claim(
        self, owner: KubernetesObject, selector: LabelSelector, *, is_adoptable: Callable[[O], bool] = lambda _: True
    ) -> list[O]:
        """Return the objects that the owner controls and its selector matches, after adoption and release."""
        claimed = []
        for obj in await self._client.list(self._kind, index=(OWNED, owner.metadata.uid)):
            if not is_controlled_by(obj, owner):
                continue
            if selector.matches(obj.metadata.labels):
                claimed.append(obj)
            elif not is_deleting(owner):
                await self._release(owner, obj)
        if not is_deleting(owner):
            claimed += await self._adopt_orphans(owner, selector, is_adoptable)
        return claimed

    async def _adopt_orphans(
        self, owner: KubernetesObject, selector: LabelSelector, is_adoptable: Callable[[O], bool]
    ) -> list[O]:
        found = await self._client.list(
            self._kind, namespace=owner.metadata.namespace, labels=selector, index=(ORPHANS, owner.metadata.namespace)
        )
        orphans = [obj for obj in found if not is_deleting(obj) and is_adoptable(obj)]
        if not orphans or not await self._can_adopt(owner):
            return []
        adopted = [await self._adopt(owner, obj) for obj in orphans]
        return [obj for obj in adopted if obj is not None]

    async def _can_adopt(self, owner: KubernetesObject) -> bool:
        """Check live that the owner is not being deleted: with a stale cache, adoption would undo orphaning."""
        present = await self._client.live.find(type(owner), owner.key)
        return present is not None and present.metadata.uid == owner.metadata.uid and not is_deleting(present)

    async def _adopt(self, owner: KubernetesObject, obj: O) -> O | None:
        """Add the owner's controller reference to an object; return None if the object changed meanwhile."""
        reference = owner_reference(owner, controller=True, block_owner_deletion=True)
        kept = [ref.to_wire() for ref in obj.metadata.owner_references if ref.uid != owner.metadata.uid]
        finalizers = [name for name in obj.metadata.finalizers if name != self._finalizer]
        wanted = [*finalizers, self._finalizer] if self._finalizer else finalizers
        return await self._patch_owner_references(obj, [*kept, reference.to_wire()], wanted)

    async def _release(self, owner: KubernetesObject, obj: O) -> None:
        kept = [ref.to_wire() for ref in obj.metadata.owner_references if ref.uid != owner.metadata.uid]
        await self._patch_owner_references(
            obj, kept, [name for name in obj.metadata.finalizers if name != self._finalizer]
        )

    async def _patch_owner_references(
        self, obj: O, references: list[dict[str, Any]], finalizers: list[str]
    ) -> O | None:
        """Replace owner references and finalizers, unless the object was replaced or changed meanwhile."""
        tests = [
            {"op": "test", "path": "/metadata/uid", "value": obj.metadata.uid},
            {"op": "test", "path": "/metadata/resourceVersion", "value": obj.metadata.resource_version},
        ]
        changes = [_set("ownerReferences", references)]
        if finalizers != obj.metadata.finalizers:
            changes.append(_set("finalizers", finalizers))
        try:
            return await self._client.patch(self._kind, obj.key, JsonPatch([*tests, *changes]))
        except (NotFound, Conflict, Invalid):
            return None  # changed or deleted meanwhile: its event triggers another reconcile of the owner


def _set(field: str, values: list[Any]) -> dict[str, Any]:
    path = f"/metadata/{field}"
    return {"op": "add", "path": path, "value": values} if values else {"op": "remove", "path": path}


def enqueue_adopters(host: ManagedCluster, owner: type[W], selector_of: Callable[[W], LabelSelector]) -> Handler[Any]:
    """Return a handler that enqueues the owners that could adopt an object without a controller."""

    async def adopters(observed: ObjectChange[Any]) -> Iterable[Request]:
        record = observed.after
        if record is None or _has_controller(record):
            return ()
        labels = record.labels
        owners = await host.client.list(owner, namespace=record.namespace)
        return [Request.of(found) for found in owners if selector_of(found).matches(labels)]

    def handle(observed: ObjectChange[Any]) -> Iterable[Request] | Awaitable[Iterable[Request]]:
        record = observed.after
        return () if record is None or _has_controller(record) else adopters(observed)

    return handle
