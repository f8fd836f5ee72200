"""Objects that a change in the garbage collector's graph affects."""

from __future__ import annotations

import msgspec

from pyctrl.api import GroupVersionKind, Key, OwnerReference
from pyctrl.cache import Record
from pyctrl.cluster._controllers.garbagecollector.graph import FOREGROUND, ORPHANING_LIMIT, Graph, GraphNode
from pyctrl.kinds.core.v1 import ConfigMap

THING = GroupVersionKind("", "v1", "Thing")


def node(
    uid: str, *owners: str, deleting: bool = False, finalizers: tuple[str, ...] = (), blocks: bool = True
) -> GraphNode:
    """Make a node that names its owners by uid."""
    refs = tuple(
        OwnerReference(api_version="v1", kind="Thing", name=owner, uid=owner, block_owner_deletion=blocks)
        for owner in owners
    )
    return GraphNode(
        uid=uid, gvk=THING, key=Key("default", uid), owners=refs, finalizers=finalizers, is_deleting=deleting
    )


def test_an_object_without_owners_affects_nothing() -> None:
    """Objects without owners that are not being deleted need no processing."""
    assert Graph().put(node("a")) == []


def test_dependents_are_looked_at_when_their_owner_goes() -> None:
    """The deletion of an owner affects its dependents."""
    graph = Graph()
    graph.put(node("owner"))
    assert graph.put(node("child", "owner")) == []
    assert graph.remove("owner") == ["child"]


def test_a_dependent_is_looked_at_unless_its_owners_stay() -> None:
    """An object is processed if an owner is unknown or deleted in the foreground, and not if all owners stay."""
    graph = Graph()
    assert graph.put(node("child", "owner")) == ["child"]
    graph.put(node("owner"))
    assert graph.put(node("child", "owner")) == []
    assert graph.put(node("child", "owner", "other")) == ["child"]
    graph.put(node("owner", deleting=True, finalizers=(FOREGROUND,)))
    assert graph.put(node("late", "owner")) == ["late"]


def test_a_foreground_deletion_concerns_dependents_then_the_owner() -> None:
    """The start of a foreground deletion affects the dependents, the end of each of them affects the owner."""
    graph = Graph()
    graph.put(node("owner"))
    graph.put(node("child", "owner"))
    assert graph.put(node("owner", deleting=True, finalizers=(FOREGROUND,))) == ["owner", "child"]
    assert graph.remove("child") == ["owner"]


def test_a_reference_that_was_dropped_is_forgotten() -> None:
    """An object that loses its owner reference is not a dependent any more."""
    graph = Graph()
    graph.put(node("child", "owner"))
    graph.put(node("child"))
    assert graph.dependents("owner") == []


def test_only_references_that_block_hold_an_owner_back() -> None:
    """Only blockOwnerDeletion makes the owner wait."""
    assert node("child", "owner").blocks("owner")
    assert not node("child", "owner", blocks=False).blocks("owner")
    assert not node("child", "other").blocks("owner")


def test_a_deleted_owner_is_remembered_while_it_has_dependents() -> None:
    """A deleted owner stays in the graph until its last dependent is deleted or drops the reference."""
    graph = Graph()
    for owner, child in (("a", "x"), ("b", "y")):
        graph.put(node(owner))
        graph.put(node(child, owner))
        graph.remove(owner)
        graph.put(node(child, owner))
        assert graph.is_gone(owner)
    graph.remove("x")
    graph.put(node("y"))
    assert not graph.is_gone("a")
    assert not graph.is_gone("b")
    assert not graph.is_gone("never seen")


def test_cached_objects_have_the_node_of_decoded_ones() -> None:
    """A node has the identity, the owners, the finalizers and the deletion of a cached object."""
    owner = {"apiVersion": "v1", "kind": "Thing", "name": "o", "uid": "u1", "controller": True}
    metadata = {
        "name": "a",
        "namespace": "default",
        "uid": "u2",
        "resourceVersion": "7",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": [FOREGROUND],
        "ownerReferences": [{**owner, "blockOwnerDeletion": False}],
    }
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    record = Record(data, "a", "default", "u2", 7)
    assert GraphNode.of_record(THING, record) == GraphNode.of(THING, ConfigMap.from_wire(data))


def test_owners_that_leave_orphans_are_forgotten_in_order() -> None:
    """The graph remembers a limited number of owners that were deleted with orphan propagation."""
    graph = Graph()
    for number in range(ORPHANING_LIMIT + 1):
        graph.leave_orphans(str(number))
    assert not graph.leaves_orphans("0")
    assert graph.leaves_orphans("1")
    assert graph.leaves_orphans(str(ORPHANING_LIMIT))
