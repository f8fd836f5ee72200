"""Dependency graph of all objects, in memory."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pyctrl.api import GroupKind, GroupVersionKind, Key, Object, OwnerReference, is_deleting
from pyctrl.cache import Record

__all__ = ["FOREGROUND", "ORPHAN", "Graph", "GraphNode"]

ORPHANING_LIMIT = 500  # owners; the size of upstream's cache of absent owners
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"  # the finalizers of foreground and orphan deletion (metav1)


class GraphNode(Struct, frozen=True, kw_only=True):  # a Struct: one is made for most events
    """An object in the graph."""

    uid: str
    gvk: GroupVersionKind
    key: Key
    owners: tuple[OwnerReference, ...]
    finalizers: tuple[str, ...]
    is_deleting: bool

    @classmethod
    def of(cls, gvk: GroupVersionKind, obj: Object) -> GraphNode:
        """Return the node of an object."""
        meta = obj.metadata
        return cls(
            uid=meta.uid,
            gvk=gvk,
            key=obj.key,
            owners=tuple(meta.owner_references),
            finalizers=tuple(meta.finalizers),
            is_deleting=is_deleting(obj),
        )

    @classmethod
    def of_record(cls, gvk: GroupVersionKind, record: Record) -> GraphNode:
        """Return the node of a cached object."""
        return cls(
            uid=record.uid,
            gvk=gvk,
            key=record.key,
            owners=tuple(record.owner_references),
            finalizers=tuple(record.finalizers),
            is_deleting=record.is_deleting,
        )

    @property
    def waits_for_dependents(self) -> bool:
        """True if the object is being deleted in the foreground."""
        return self.is_deleting and FOREGROUND in self.finalizers

    def blocks(self, owner_uid: str) -> bool:
        """Return whether an owner that is deleted in the foreground waits for this dependent."""
        return any(ref.uid == owner_uid and bool(ref.block_owner_deletion) for ref in self.owners)


class Graph:
    """All objects by uid, and their dependents."""

    def __init__(self) -> None:
        self._nodes: dict[str, GraphNode] = {}
        self._dependents: dict[str, set[str]] = {}
        #: Deleted owners that still have dependents. They need no live read, which would be impossible once the
        #: definition of their kind is deleted.
        self._gone: set[str] = set()
        self._orphaning: dict[str, None] = {}

    def get(self, uid: str) -> GraphNode | None:
        """Return the node of a uid, or None."""
        return self._nodes.get(uid)

    def is_gone(self, uid: str) -> bool:
        """Return whether an owner that still has dependents has been deleted."""
        return uid in self._gone

    def leave_orphans(self, uid: str) -> None:
        """Remember that the dependents of an owner stay, also those that are not in the graph yet."""
        self._orphaning[uid] = None
        if len(self._orphaning) > ORPHANING_LIMIT:
            del self._orphaning[next(iter(self._orphaning))]

    def leaves_orphans(self, uid: str) -> bool:
        """Return whether an owner was deleted a short time ago with orphan propagation."""
        return uid in self._orphaning

    def of_kind(self, kind: GroupKind) -> list[str]:
        """Return the uids of all objects of a kind."""
        return [uid for uid, node in self._nodes.items() if node.gvk.group_kind == kind]

    def dependents(self, uid: str) -> list[GraphNode]:
        """Return the dependents of a uid, sorted by uid."""
        return [self._nodes[child] for child in sorted(self._dependents.get(uid, ()))]

    def put(self, node: GraphNode) -> list[str]:
        """Add or replace a node; return the uids to process because of it."""
        before = self._nodes.get(node.uid)
        if before is None or before.owners != node.owners:
            self._unlink(before)
            for ref in node.owners:
                self._dependents.setdefault(ref.uid, set()).add(node.uid)
            self._forget_owners(before)
        self._nodes[node.uid] = node
        affected = [] if self._is_kept(node) else [node.uid]
        if node.waits_for_dependents and not (before and before.waits_for_dependents):
            affected += [child.uid for child in self.dependents(node.uid)]
        return [*affected, *self._waiting_owners(before)]

    def _is_kept(self, node: GraphNode) -> bool:
        """Return whether nothing is to be done about a node: all of its owners exist, and none is being deleted."""
        if node.is_deleting:
            return False
        owners = [self._nodes.get(ref.uid) for ref in node.owners]
        return all(
            owner is not None and owner.key.namespace in ("", node.key.namespace) and not owner.waits_for_dependents
            for owner in owners
        )

    def remove(self, uid: str) -> list[str]:
        """Remove a node; return the uids to process: its dependents, and owners that waited for it."""
        node = self._nodes.pop(uid, None)
        self._unlink(node)
        self._forget_owners(node)
        dependents = sorted(self._dependents.get(uid, ()))
        if dependents:
            self._gone.add(uid)
        return [*dependents, *self._waiting_owners(node)]

    def _unlink(self, node: GraphNode | None) -> None:
        for ref in node.owners if node else ():
            children = self._dependents.get(ref.uid)
            if children is not None:
                children.discard(node.uid if node else "")
                if not children:
                    del self._dependents[ref.uid]

    def _forget_owners(self, node: GraphNode | None) -> None:
        """Forget deleted owners without dependents, after a dependent changed or was deleted."""
        self._gone.difference_update(
            ref.uid for ref in (node.owners if node else ()) if ref.uid not in self._dependents
        )

    def _waiting_owners(self, node: GraphNode | None) -> Iterable[str]:
        """Yield the owners that wait for a dependent, which has changed or been deleted."""
        for ref in node.owners if node else ():
            owner = self._nodes.get(ref.uid)
            if owner is not None and owner.waits_for_dependents:
                yield owner.uid
