"""Storage: versions, history and compaction."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._storage.storage import FIRST_VERSION, Collection, Compacted, Storage

CONFIGMAPS = ResourceRegistry().require("", "v1", "configmaps")


def put(collection: Collection, name: str, namespace: str = "n", **data: str) -> int:
    obj: dict[str, Any] = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }
    return collection.put(obj, CONFIGMAPS).version


def remove(collection: Collection, name: str, namespace: str = "n") -> int:
    stored = collection.find(namespace, name)
    assert stored is not None
    return collection.remove(stored).version


def shown(collection: Collection, version: int, namespace: str = "") -> list[tuple[str, int]]:
    return [(stored.key, stored.version) for stored in collection.at(version, namespace)]


steps = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["m", "n", "n-x"]), st.booleans()), max_size=40)


@given(steps)
def test_every_version_can_be_listed_as_it_was(changes: list[tuple[str, str, bool]]) -> None:
    """A list at any version of the history has the objects of that version, sorted by key."""
    storage = Storage()
    collection = storage.collection("", "configmaps")
    model: dict[str, int] = {}
    then: dict[int, dict[str, int]] = {storage.version: {}}
    for name, namespace, removes in changes:
        key = f"{namespace}/{name}"
        if not removes:
            model[key] = put(collection, name, namespace)
        elif key in model:
            remove(collection, name, namespace)
            del model[key]
        then[storage.version] = dict(model)
    for version, objects in then.items():
        assert shown(collection, version) == sorted(objects.items())
        for namespace in ("m", "n", "n-x"):
            inside = {key: at for key, at in objects.items() if key.startswith(f"{namespace}/")}
            assert shown(collection, version, namespace) == sorted(inside.items())


@given(steps, st.integers(min_value=1, max_value=6))
def test_history_is_bounded_and_never_wrong(changes: list[tuple[str, str, bool]], limit: int) -> None:
    """With a short history a list at an old version is correct or refused, and its events have no gap."""
    bounded, full = Storage(history=limit), Storage()
    for storage in (bounded, full):
        collection = storage.collection("", "configmaps")
        for name, namespace, removes in changes:
            if not removes:
                put(collection, name, namespace)
            elif collection.find(namespace, name):
                remove(collection, name, namespace)
    few, all_ = bounded.collection("", "configmaps"), full.collection("", "configmaps")
    assert len(few._events) < 2 * limit
    for version in range(FIRST_VERSION, full.version + 1):
        try:
            listed, position = shown(few, version), few.position_after(version)
        except Compacted:
            continue
        assert listed == shown(all_, version)
        wanted = [event.version for event in all_.events_from(all_.position_after(version))]
        assert [event.version for event in few.events_from(position)] == wanted


def test_one_version_counts_over_all_resources() -> None:
    """A write to any resource gets the next version, as in etcd."""
    storage = Storage()
    first = put(storage.collection("", "configmaps"), "a")
    second = put(storage.collection("x.io", "things"), "a")
    assert second == first + 1 == storage.version


def test_compaction_refuses_older_versions_and_keeps_the_present() -> None:
    """After a compaction only the current state can be listed."""
    storage = Storage()
    collection = storage.collection("", "configmaps")
    old, new = put(collection, "a"), put(collection, "b")
    storage.compact()
    assert [key for key, _ in shown(collection, new)] == ["n/a", "n/b"]
    with pytest.raises(Compacted):
        collection.at(old, "")


def test_stored_objects_are_not_the_callers() -> None:
    """Changes to an object that was stored or read do not affect the storage."""
    collection = Storage().collection("", "configmaps")
    obj: dict[str, Any] = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "n"}}
    stored = collection.put(obj, CONFIGMAPS)
    obj["data"] = {"x": "y"}
    stored.decode()["data"] = {"x": "z"}
    assert "data" not in stored.decode()


async def test_waiting_for_a_version() -> None:
    """A wait for a future version ends with the write of that version, or at its deadline."""
    storage = Storage()
    collection = storage.collection("", "configmaps")
    assert await storage.reaches(storage.version, seconds=1)
    assert not await storage.reaches(storage.version + 1, seconds=1)
    asyncio.get_running_loop().call_later(1, put, collection, "a")
    assert await storage.reaches(storage.version + 1, seconds=5)


def test_a_removal_is_a_version_of_its_own() -> None:
    """A watch from the version before a removal has the removal."""
    collection = Storage().collection("", "configmaps")
    put(collection, "a")
    before = put(collection, "b")

    assert remove(collection, "a") == before + 1
    found = collection.events_from(collection.position_after(before))
    assert [(event.type, event.version) for event in found] == [("DELETED", before + 1)]


def test_a_reader_that_is_too_slow_is_told() -> None:
    """Events from a position that the bounded history no longer has are refused: some are lost."""
    collection = Storage(history=2).collection("", "configmaps")
    put(collection, "a")
    position = collection.end
    for _ in range(10):
        put(collection, "a")

    with pytest.raises(Compacted):
        collection.events_from(position)
    assert len(collection.events_from(collection.end - 1)) == 1
