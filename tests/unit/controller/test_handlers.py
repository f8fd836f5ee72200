"""Handlers, which map changes to requests."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from pyctrl.api import GroupVersionKind, Key, Metadata
from pyctrl.cache import Created, Deleted, Record, Updated
from pyctrl.cache._record import RecordReader
from pyctrl.controller import ObjectChange, Request, for_object, for_owner, mapped
from pyctrl.controller._sources.kind import to_object_change
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Namespace, Pod


def owner(
    name: str, *, kind: str = "Deployment", api: str = "apps/v1", controller: bool | None = True
) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": controller}


def record(name: str = "pod", namespace: str = "default", **meta: Any) -> Record:
    metadata = {"name": name, "namespace": namespace, "uid": "u", "resourceVersion": "1", **meta}
    return RecordReader()(Pod.from_wire({"metadata": metadata}).to_json())


def created(pod: Record) -> ObjectChange[Pod]:
    return to_object_change(Created(pod), Pod)


def test_the_object_itself() -> None:
    """`for_object` requests the object that was created, updated or deleted."""
    expected = [Request("default", "pod")]
    assert for_object(created(record())) == expected
    assert for_object(to_object_change(Updated(record(), record()), Pod)) == expected
    assert for_object(to_object_change(Deleted(record()), Pod)) == expected


def test_the_owner_that_is_the_controller() -> None:
    """Only the controller reference of the kind counts, in any version of the kind."""
    references = [owner("a", controller=None), owner("b", api="apps/v1beta1"), owner("c", kind="ReplicaSet")]
    handler = for_owner(Deployment)
    assert handler(created(record(ownerReferences=references))) == [Request("default", "b")]
    assert handler(created(record())) == []


def test_an_owner_of_another_group_is_somebody_else() -> None:
    """An owner of the same kind name in another group is ignored."""
    assert for_owner(Deployment)(created(record(ownerReferences=[owner("a", api="example.com/v1")]))) == []


def test_every_owner_if_so_asked() -> None:
    """With every=True, all owners of the kind are requested, each once."""
    references = [owner("a", controller=None), owner("b"), owner("c", kind="ReplicaSet", controller=None)]
    handler = for_owner(Deployment, every=True)
    assert handler(created(record(ownerReferences=references))) == [Request("default", "a"), Request("default", "b")]


def test_a_change_of_owner_asks_for_both() -> None:
    """A change of owner requests both the old and the new owner."""
    change = Updated(record(ownerReferences=[owner("a")]), record(ownerReferences=[owner("b")]))
    assert for_owner(Deployment)(to_object_change(change, Pod)) == [Request("default", "a"), Request("default", "b")]


def test_an_unchanged_owner_is_asked_for_once() -> None:
    """An update without a change of owner requests the owner once."""
    change = Updated(record(ownerReferences=[owner("a")]), record(ownerReferences=[owner("a")]))
    assert for_owner(Deployment)(to_object_change(change, Pod)) == [Request("default", "a")]


def test_a_cluster_scoped_owner_has_no_namespace() -> None:
    """A cluster-scoped owner of a namespaced object is requested without a namespace."""
    change = created(record(ownerReferences=[owner("a", kind="Namespace", api="v1")]))
    kind = GroupVersionKind("", "v1", "Namespace")
    for handler in (for_owner(Namespace), for_owner(Metadata[Namespace]), for_owner(kind, namespaced=False)):
        assert handler(change) == [Request("", "a")]
    assert for_owner(kind).namespaced is None


def test_a_function_of_the_object_maps_to_requests() -> None:
    """On updates the function gets the old and the new object, and each request is added once."""

    def requests(pod: Pod) -> list[Request]:
        return [Request("", pod.metadata.labels["node"]), Request("", "all")]

    handler = mapped(requests)
    change = to_object_change(Updated(record(labels={"node": "a"}), record(labels={"node": "b"})), Pod)
    assert handler(change) == [Request("", "a"), Request("", "all"), Request("", "b")]


async def test_an_async_function_maps_as_well() -> None:
    """The function may be async, for example to read from the cache."""

    async def requests(pod: Pod) -> Iterable[Request]:
        return [Request(*Key.of(pod))]

    answer = mapped(requests)(created(record()))
    assert inspect.isawaitable(answer)
    assert await answer == [Request("default", "pod")]
