"""Storage with a backend: loading, compaction, and writes that the backend refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver import BackendState, Revision
from pyctrl.apiserver._storage.storage import FIRST_VERSION, Collection, Compacted, Storage
from pyctrl.errors import StorageError


class MemoryBackend:
    """A backend in memory, which can be made to refuse writes or compactions."""

    def __init__(self) -> None:
        self.revisions: dict[int, Revision] = {}
        self.compacted: dict[tuple[str, str], int] = {}
        self.secrets: dict[str, bytes] = {}
        self.refuses_writes = self.refuses_compactions = False

    def load(self) -> BackendState:
        version = max([*self.revisions, *self.compacted.values()], default=0)
        return BackendState(version, dict(self.compacted), list(self.revisions.values()))

    def write(self, revision: Revision) -> None:
        if self.refuses_writes:
            raise StorageError(Path("state"), "disk full")
        assert revision.version > max(self.revisions, default=0)
        self.revisions[revision.version] = revision

    def compact(self, group: str, resource: str, version: int, dropped: Iterable[int]) -> None:
        if self.refuses_compactions:
            raise StorageError(Path("state"), "disk full")
        for each in dropped:
            self.revisions.pop(each, None)
        self.compacted[group, resource] = version

    def restore(self, revisions: Iterable[Revision], compacted: Mapping[tuple[str, str], int]) -> None:
        self.revisions = {each.version: each for each in sorted(revisions)}
        self.compacted = dict(compacted)

    def find_secret(self, name: str) -> bytes | None:
        return self.secrets.get(name)

    def put_secret(self, name: str, value: bytes) -> None:
        self.secrets[name] = value


def put(collection: Collection, name: str, **data: str) -> int:
    obj: dict[str, Any] = {"metadata": {"name": name, "namespace": "n"}, "data": data}
    return collection.put(obj, None).version


def remove(collection: Collection, name: str) -> None:
    stored = collection.find("n", name)
    assert stored is not None
    collection.remove(stored)


def loaded(backend: MemoryBackend, history: int = 100) -> tuple[Storage, Collection]:
    storage = Storage(history=history, backend=backend)
    storage.load()
    return storage, storage.collection("", "configmaps")


def shown(collection: Collection, version: int) -> list[tuple[str, int]]:
    return [(stored.key, stored.version) for stored in collection.at(version, "")]


changes = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "remove", "restart", "compact"])))


def test_a_removed_object_does_not_return() -> None:
    """Of an object that was removed, no older version comes back when one of the compactions has failed."""
    backend = MemoryBackend()
    storage, collection = loaded(backend, history=1)
    put(collection, "a", number="1")
    put(collection, "a", number="2")
    backend.refuses_compactions = True
    remove(collection, "a")  # the compaction that drops the first version fails
    backend.refuses_compactions = False
    for number in range(3):
        put(collection, "b", number=str(number))
    storage.compact()
    assert [each.key for each in loaded(backend)[1].current("")] == ["n/b"]


@given(changes, st.integers(min_value=1, max_value=5), st.lists(st.booleans(), max_size=40))
def test_a_restart_changes_nothing(steps: list[tuple[str, str]], history: int, refusals: list[bool]) -> None:
    """Restarted at any point, a storage answers every version as before or refuses it, and never repeats a version."""
    backend = MemoryBackend()
    storage, collection = loaded(backend, history)
    full = Storage(history=1000)
    model = full.collection("", "configmaps")
    for number, (name, step) in enumerate(steps):
        backend.refuses_compactions = number < len(refusals) and refusals[number]
        if step == "put":
            assert put(collection, name, number=str(number)) == put(model, name, number=str(number))
        elif step == "remove" and collection.find("n", name):
            remove(collection, name)
            remove(model, name)
        elif step == "compact":
            storage.compact()
        elif step == "restart":
            before = storage.version
            storage, collection = loaded(backend, history)
            assert storage.version == before
    assert shown(collection, storage.version) == shown(model, full.version)
    assert [each.data for each in collection.current("")] == [each.data for each in model.current("")]
    for version in range(FIRST_VERSION, full.version + 1):
        try:
            assert shown(collection, version) == shown(model, version)
            events = collection.events_from(collection.position_after(version))
        except Compacted:
            continue
        wanted = model.events_from(model.position_after(version))
        assert [(each.type, each.version) for each in events] == [(each.type, each.version) for each in wanted]


def test_the_backend_is_bounded() -> None:
    """A thousand writes of one object leave at most the history on disk, also after a refused compaction."""
    backend = MemoryBackend()
    _, collection = loaded(backend, history=10)
    for number in range(1000):
        backend.refuses_compactions = number < 500
        put(collection, "a", number=str(number))
        if number == 499:
            assert len(backend.revisions) == 500
    assert len(backend.revisions) <= 21


def test_a_load_drops_what_a_refused_compaction_has_left() -> None:
    """Revisions that a storage could not drop before its end are dropped by the next one."""
    backend = MemoryBackend()
    _, collection = loaded(backend, history=10)
    backend.refuses_compactions = True
    for number in range(100):
        put(collection, "a", number=str(number))
    backend.refuses_compactions = False
    loaded(backend, history=10)
    assert len(backend.revisions) <= 21


def test_removed_objects_leave_nothing() -> None:
    """Objects that were created and removed take no space on disk once their history is dropped."""
    backend = MemoryBackend()
    storage, collection = loaded(backend, history=10)
    for number in range(100):
        put(collection, f"n{number}")
        remove(collection, f"n{number}")
    assert len(backend.revisions) <= 20
    storage.compact()
    assert not backend.revisions


def test_a_refused_write_changes_nothing() -> None:
    """When the backend refuses, neither objects, events nor the version change, and the next write works."""
    backend = MemoryBackend()
    storage, collection = loaded(backend)
    version, end = put(collection, "a"), collection.end
    backend.refuses_writes = True
    for write in (lambda: put(collection, "b"), lambda: put(collection, "a", x="y"), lambda: remove(collection, "a")):
        with pytest.raises(StorageError, match="disk full"):
            write()
    assert (storage.version, collection.end, shown(collection, version)) == (version, end, [("n/a", version)])
    backend.refuses_writes = False
    assert put(collection, "b") == version + 1


def test_listeners_get_the_loaded_objects() -> None:
    """A listener sees each loaded object once, as added, so that its state is that of the storage."""
    backend = MemoryBackend()
    _, collection = loaded(backend)
    put(collection, "a")
    version = put(collection, "a", x="y")
    put(collection, "b")
    remove(collection, "b")
    storage, seen = Storage(backend=backend), []
    storage.collection("", "configmaps").listen(lambda event: seen.append((event.type, event.version)))
    storage.load()
    assert seen == [("ADDED", version)]


def test_a_restored_backup_is_stored() -> None:
    """After a restore and a restart, the objects of the backup are there and older versions are too old."""
    backend = MemoryBackend()
    storage, collection = loaded(backend)
    put(collection, "a")
    backup = storage.backup()
    old = put(collection, "b")
    storage.restore(backup)
    version = storage.version
    again, collection = loaded(backend)
    assert (again.version, [each.name for each in collection.current("")]) == (version, ["a"])
    with pytest.raises(Compacted):
        collection.position_after(old)


def test_secrets_are_made_once() -> None:
    """A secret is made in the first run and the same in the next; without a backend it is made each time."""
    backend = MemoryBackend()
    assert Storage(backend=backend).secret("key", lambda: b"1") == b"1"
    assert Storage(backend=backend).secret("key", lambda: b"2") == b"1"
    assert Storage().secret("key", lambda: b"2") == b"2"
