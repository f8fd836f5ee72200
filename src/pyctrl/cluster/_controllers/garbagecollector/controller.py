"""The garbage collector: what nobody owns any more goes, in all three propagations.

The rules are those of kube-controller-manager's garbage collector (pkg/controller/garbagecollector): an object goes
when all of its owners are gone; a reference to an owner that is gone is removed while another owner lives; an owner
deleted in the foreground goes after the dependents that block it; one deleted with orphans leaves them behind.
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

#: An owner of a kind that is not served may come to be served: until then nothing is known of it, and nothing is done.
UNKNOWN_KIND = timedelta(minutes=1)

__all__ = ["GarbageCollector", "add_garbage_collector"]


def add_garbage_collector(host: ManagedCluster) -> Controller:
    """Run the garbage collector in a manager, over every kind that the cluster serves."""
    graph = Graph()
    source = GraphBuilder(host.cache, host.client.live, graph)
    return (
        Builder(host).watches_source(source).options(name="garbage-collector", workers=4).build(GarbageCollector(graph))
    )


class GarbageCollector(Reconciler[Metadata[Any]]):
    """Looks at one object, named by its uid (``request.name``), and deletes, releases or unblocks it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def reconcile(self, request: Request) -> Result | None:
        node = self._graph.get(request.name)
        if node is None:
            return None
        try:
            if node.is_deleting:
                await self._finish(node)
            elif node.owners:
                await self._judge(node)
        except UnknownKind:
            return Result(requeue_after=UNKNOWN_KIND)
        except (NotFound, Conflict, Invalid):
            return None  # it has changed or gone since: its next event brings it here again
        return None

    async def _finish(self, node: GraphNode) -> None:
        """An object that is being deleted: let it go when nothing that counts depends on it any more."""
        dependents = self._graph.dependents(node.uid)
        if ORPHAN in node.finalizers:
            for child in dependents:
                await self._release(child, {node.uid})
            await self._remove_finalizer(node, ORPHAN)
        elif FOREGROUND in node.finalizers and not any(child.blocks(node.uid) for child in dependents):
            await self._remove_finalizer(node, FOREGROUND)

    async def _judge(self, node: GraphNode) -> None:
        """An object with owners: delete it when none is left, else drop the references that lead nowhere."""
        gone: set[str] = set()
        waiting: set[str] = set()
        living = 0
        for ref in node.owners:
            owner = await self._owner(node, ref)
            if owner is None:
                gone.add(ref.uid)
            elif owner.waits_for_dependents and ref.block_owner_deletion:
                waiting.add(ref.uid)
            else:
                living += 1
        if living:
            if gone or waiting:
                await self._release(node, gone | waiting)
        elif waiting and self._graph.dependents(node.uid):
            await self._delete(node, "Foreground")
        else:
            await self._delete(node, "Background")

    async def _owner(self, node: GraphNode, ref: OwnerReference) -> GraphNode | None:
        """Return an owner; one that is not in the graph is asked for, because the graph may be behind."""
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

    async def _release(self, node: GraphNode, owners: set[str]) -> None:
        """Remove references, in one patch that fails when the object is another one by now."""
        kept = [ref.to_wire() for ref in node.owners if ref.uid not in owners]
        tests = [{"op": "test", "path": "/metadata/uid", "value": node.uid}]
        change = (
            {"op": "replace", "path": "/metadata/ownerReferences", "value": kept}
            if kept
            else {"op": "remove", "path": "/metadata/ownerReferences"}
        )
        await self._patch(node, [*tests, change])

    async def _remove_finalizer(self, node: GraphNode, finalizer: str) -> None:
        position = node.finalizers.index(finalizer)
        path = f"/metadata/finalizers/{position}"
        await self._patch(node, [{"op": "test", "path": path, "value": finalizer}, {"op": "remove", "path": path}])

    async def _patch(self, node: GraphNode, operations: list[dict[str, Any]]) -> None:
        await self.client.live.patch(Metadata.of(node.gvk), node.key, JsonPatch(operations))

    async def _delete(self, node: GraphNode, propagation: Propagation) -> None:
        if ORPHAN in node.finalizers:
            propagation = "Orphan"
        elif FOREGROUND in node.finalizers:
            propagation = "Foreground"
        await self.client.live.delete(
            Metadata.of(node.gvk), node.key, propagation=propagation, preconditions=Preconditions(uid=node.uid)
        )
