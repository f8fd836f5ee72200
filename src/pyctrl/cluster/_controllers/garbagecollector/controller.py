"""Garbage collector with background, foreground and orphan propagation.

The rules are those of kube-controller-manager's garbage collector (pkg/controller/garbagecollector). An object is
deleted when all of its owners are gone. References to owners that are gone are removed while another owner exists. An
owner that is deleted in the foreground is removed after the dependents that block it. One that is deleted with orphan
propagation leaves its dependents behind.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyctrl.api import GroupVersionKind, Key, Metadata, OwnerReference
from pyctrl.client import JsonPatch, Preconditions, Propagation
from pyctrl.cluster._controllers.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, GraphNode
from pyctrl.cluster._controllers.garbagecollector.graph_builder import GraphBuilder
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, Invalid, NotFound, UnknownKind

#: The retry interval for owners of a kind that is not served, about which nothing is known.
UNKNOWN_KIND_RETRY = timedelta(minutes=1)

__all__ = ["GarbageCollector", "add_garbage_collector"]


def add_garbage_collector(host: ManagedCluster) -> Controller:
    """Run the garbage collector in a manager, over every kind that the cluster serves."""
    graph = Graph()
    source = GraphBuilder(host.cache, host.client.live, graph)
    return (
        Builder(host).watches_source(source).options(name="garbage-collector", workers=4).build(GarbageCollector(graph))
    )


class GarbageCollector(Reconciler[Metadata[Any]]):
    """Processes one object, identified by its uid (``request.name``): deletes, orphans or unblocks it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def reconcile(self, request: Request) -> Result | None:
        node = self._graph.get(request.name)
        if node is None:
            return None
        try:
            if node.is_deleting:
                await self._process_deleting_dependents(node)
            elif node.owners:
                await self._attempt_to_delete(node)
        except UnknownKind:
            return Result(requeue_after=UNKNOWN_KIND_RETRY)
        except NotFound:
            return None  # deleted meanwhile
        except (Conflict, Invalid):
            return Result(requeue_after=timedelta(0))  # it, or one of its dependents, has changed meanwhile
        return None

    async def _process_deleting_dependents(self, node: GraphNode) -> None:
        """Remove the propagation finalizer of a deleted object once its dependents are orphaned or gone."""
        dependents = self._graph.dependents(node.uid)
        if ORPHAN in node.finalizers:
            self._graph.leave_orphans(node.uid)
            for child in dependents:
                await self._delete_owner_references(child, {node.uid})
            await self._remove_finalizer(node, ORPHAN)
        elif FOREGROUND in node.finalizers and not any(child.blocks(node.uid) for child in dependents):
            await self._remove_finalizer(node, FOREGROUND)

    async def _attempt_to_delete(self, node: GraphNode) -> None:
        """Delete an object without existing owners, else remove its dangling owner references."""
        if left := {ref.uid for ref in node.owners if self._graph.leaves_orphans(ref.uid)}:
            await self._delete_owner_references(node, left)  # it was not in the graph when the others were orphaned
            return
        dangling: set[str] = set()
        waiting_for_dependents: set[str] = set()
        solid = 0
        for ref in node.owners:
            owner = await self._owner(node, ref)
            if owner is None:
                dangling.add(ref.uid)
            elif owner.waits_for_dependents:
                waiting_for_dependents.add(ref.uid)
            else:
                solid += 1
        if solid:
            if dangling or waiting_for_dependents:
                await self._delete_owner_references(node, dangling | waiting_for_dependents)
        elif waiting_for_dependents and (dependents := self._graph.dependents(node.uid)):
            if any(child.waits_for_dependents for child in dependents):
                await self._unblock_owners(node)  # a cycle: the owners wait for this object, and it for them
            await self._delete(node, "Foreground")
        else:
            await self._delete(node, "Background")

    async def _owner(self, node: GraphNode, ref: OwnerReference) -> GraphNode | None:
        """Return an owner from the graph, or from the server because the graph may lag."""
        known = self._graph.get(ref.uid)
        if known is not None:
            return known if known.key.namespace in ("", node.key.namespace) else None
        if self._graph.is_gone(ref.uid):
            return None
        gvk = GroupVersionKind.parse(ref.api_version, ref.kind)
        owner = await self._find(gvk, node.key.namespace, ref.name)
        return GraphNode.of(gvk, owner) if owner is not None and owner.metadata.uid == ref.uid else None

    async def _find(self, gvk: GroupVersionKind, namespace: str, name: str) -> Metadata[Any] | None:
        live = self.client.live
        mapping = await live.discovery.mapping(gvk)
        return await live.find(Metadata.of(gvk), Key(namespace if mapping.namespaced else "", name))

    async def _latest(self, node: GraphNode) -> Metadata[Any] | None:
        """Return an object from the server, because the graph may lag; None if it is gone."""
        latest = await self._find(node.gvk, node.key.namespace, node.key.name)
        return latest if latest is not None and latest.metadata.uid == node.uid else None

    async def _delete_owner_references(self, node: GraphNode, owners: set[str]) -> None:
        """Remove the owner references to some owners, and no others that the graph may not have yet."""
        if (latest := await self._latest(node)) is not None:
            kept = [ref.to_wire() for ref in latest.metadata.owner_references if ref.uid not in owners]
            await self._replace_owner_references(node, latest, kept)

    async def _unblock_owners(self, node: GraphNode) -> None:
        """Let owners that are deleted in the foreground not wait for an object."""
        if (latest := await self._latest(node)) is not None:
            references = [ref.to_wire() for ref in latest.metadata.owner_references]
            free = [
                {**ref, "blockOwnerDeletion": False} if ref.get("blockOwnerDeletion") else ref for ref in references
            ]
            await self._replace_owner_references(node, latest, free)

    async def _replace_owner_references(
        self, node: GraphNode, latest: Metadata[Any], references: list[dict[str, Any]]
    ) -> None:
        """Replace the references that an object had when it was read, in one patch that fails if it has changed."""
        if references != [ref.to_wire() for ref in latest.metadata.owner_references]:
            version = latest.metadata.resource_version
            test = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
            path = "/metadata/ownerReferences"
            change = (
                {"op": "replace", "path": path, "value": references} if references else {"op": "remove", "path": path}
            )
            await self._patch(node, [test, change])

    async def _remove_finalizer(self, node: GraphNode, finalizer: str) -> None:
        position = node.finalizers.index(finalizer)
        path = f"/metadata/finalizers/{position}"
        await self._patch(node, [{"op": "test", "path": path, "value": finalizer}, {"op": "remove", "path": path}])

    async def _patch(self, node: GraphNode, operations: list[dict[str, Any]]) -> None:
        await self.client.live.patch(Metadata.of(node.gvk), node.key, JsonPatch(operations))

    async def _delete(self, node: GraphNode, propagation: Propagation) -> None:
        """Delete an object, unless its owners have changed: then its event triggers another reconcile."""
        latest = await self._latest(node)
        if latest is None or {ref.uid for ref in latest.metadata.owner_references} != {ref.uid for ref in node.owners}:
            return
        if ORPHAN in latest.metadata.finalizers:
            propagation = "Orphan"
        elif FOREGROUND in latest.metadata.finalizers:
            propagation = "Foreground"
        unchanged = Preconditions(uid=node.uid, resource_version=latest.metadata.resource_version)
        await self.client.live.delete(Metadata.of(node.gvk), node.key, propagation=propagation, preconditions=unchanged)
