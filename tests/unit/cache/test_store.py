"""The store of one kind: records by namespace and name, and indexes that follow them."""

from __future__ import annotations

import pytest

from pyctrl.cache import Record
from pyctrl.cache._store import Store
from tests.unit.cache._kit import record


def colours(of: Record) -> list[str]:
    """Return the values of the index: the label `colour`."""
    found = of.labels.get("colour")
    return [found] if found else []


def test_records_are_found_by_namespace_and_name() -> None:
    """Names are unique per namespace; a missing record is None."""
    store = Store()
    store.put(record("a", 1))
    store.put(record("a", 2, namespace="web"))
    assert [(each.namespace, each.version) for each in store] == [("default", 1), ("web", 2)]
    assert store.get("web", "b") is None
    assert store.get("shop", "a") is None
    assert (len(store), store.count("web"), store.count("shop")) == (2, 1, 0)
    assert [each.version for each in store.select("web")] == [2]


def test_a_put_returns_the_replaced_record() -> None:
    """`put` returns the replaced record, and the size is that of the kept records."""
    store, old, new = Store(), record("a", 1), record("a", 2, data={"k": "v" * 100})
    assert store.put(old) is None
    assert store.put(new) is old
    assert store.size == len(new.kept)
    store.remove(old)
    assert (store.size, len(store), list(store)) == (0, 0, [])
    store.remove(old)  # a second time without an error


def test_indexes_follow_changes() -> None:
    """An index covers records from before it was added, and follows changed values."""
    store = Store()
    store.put(record("a", 1, labels={"colour": "red"}))
    store.add_index("colour", colours)
    store.put(record("b", 2, labels={"colour": "red"}, namespace="web"))
    assert [each.name for each in store.select(index=("colour", "red"))] == ["a", "b"]
    assert [each.name for each in store.select("web", index=("colour", "red"))] == ["b"]

    store.put(record("a", 3, labels={"colour": "blue"}))
    assert [each.name for each in store.select(index=("colour", "red"))] == ["b"]
    assert store.count(index=("colour", "blue")) == 1
    store.remove(record("a", 3))
    assert list(store.select(index=("colour", "blue"))) == []


def test_several_indexes_are_combined() -> None:
    """A lookup in several indexes returns the records with the value in each of them."""
    store = Store()
    store.add_index("colour", colours)
    store.add_index("name", lambda each: [each.name])
    for name in ("a", "b"):
        store.put(record(name, 1, labels={"colour": "red"}))
    assert [each.name for each in store.select(index=("colour", "red"), also=[("name", "b")])] == ["b"]
    assert set(store.index_names) == {"colour", "name"}


def test_a_function_that_fails_for_an_object_keeps_no_other_index_from_it(caplog: pytest.LogCaptureFixture) -> None:
    """An object is not in the index whose function raises for it; it is in the store, and in the other indexes."""
    store = Store()
    store.add_index("broken", lambda record: [record.labels["absent"]])
    store.add_index("colour", colours)

    store.put(record("a", 1, labels={"colour": "red"}))

    assert [each.name for each in store.select(None, ("colour", "red"))] == ["a"]
    assert "An index function failed" in caplog.text
