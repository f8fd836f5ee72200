"""Label lists return the same objects through the automatic indexes as through a full scan."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.api import GroupVersionKind, LabelSelector
from pyctrl.cache._coverage import Coverage, ListQuery
from pyctrl.cache._index import MAX_LABEL_INDEXES, MIN_OBJECTS_FOR_INDEX
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import Record, RecordReader

THING = GroupVersionKind("", "v1", "Thing")
reader = RecordReader()


def record(number: int, version: int, labels: dict[str, str]) -> Record:
    """Make an object."""
    metadata = {"name": f"n{number}", "namespace": f"ns{number % 2}", "uid": f"u{number}", "labels": labels}
    return reader(json.dumps({"metadata": {**metadata, "resourceVersion": str(version)}}).encode())


labels = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"))
terms = st.sampled_from(["a=x", "a==y", "a in (z)", "b=x", "b in (x,y)", "a!=x", "c", "!c", "b notin (z)"])
selectors = st.lists(terms, max_size=3, unique=True).map(lambda chosen: LabelSelector.parse(",".join(chosen)))


@settings(max_examples=40, deadline=None)
@given(
    objects=st.lists(labels, min_size=MIN_OBJECTS_FOR_INDEX + 30, max_size=MIN_OBJECTS_FOR_INDEX + 60),
    changes=st.lists(st.tuples(st.integers(0, MIN_OBJECTS_FOR_INDEX - 1), st.none() | labels), min_size=5, max_size=30),
    asked=st.lists(st.tuples(selectors, st.sampled_from([None, "ns0", "ns1"])), min_size=1, max_size=6),
)
def test_lists_by_label_are_right_before_and_after_changes(
    objects: list[dict[str, str]],
    changes: list[tuple[int, dict[str, str] | None]],
    asked: list[tuple[LabelSelector, str | None]],
) -> None:
    """Label lists are correct for any selector and any order of new indexes and changes."""
    lister = Lister(THING, reader)
    writer = lister.add_writer(Coverage(), [])
    writer.begin_list()
    for number, made in enumerate(objects):
        writer.put(record(number, number + 1, made))
    writer.end_list(1000)
    for step, (number, changed) in enumerate([(-1, None), *changes]):
        if changed is not None:
            writer.put(record(number, 2000 + step, changed))
        elif number >= 0:
            writer.remove(record(number, 2000 + step, {}))
        for selector, namespace in asked:
            found = lister.select(ListQuery(namespace=namespace, labels=selector))
            wanted = [r for r in lister.store if namespace in (None, r.namespace) and selector.matches(r.labels)]
            assert {r.key for r in found} == {r.key for r in wanted}


def test_indexes_are_few() -> None:
    """The number of automatic indexes is bounded, even if every list uses new labels."""
    lister = Lister(THING, reader)
    writer = lister.add_writer(Coverage(), [])
    for number in range(MIN_OBJECTS_FOR_INDEX):
        writer.put(record(number, number + 1, {f"label{number}": "x"}))
    for number in range(MAX_LABEL_INDEXES * 3):
        assert len(lister.select(ListQuery(labels=LabelSelector.from_dict({f"label{number}": "x"})))) == 1
    assert len(lister.store.index_names) == MAX_LABEL_INDEXES


def test_own_writes_are_found_by_several_labels_at_once() -> None:
    """An own write with new labels is found by all of them, before and after its event."""
    lister = Lister(THING, reader)
    writer = lister.add_writer(Coverage(), [])
    writer.begin_list()
    for number in range(MIN_OBJECTS_FOR_INDEX):
        writer.put(record(number, number + 1, {"a": "x", "b": "y" if number % 2 else "x"}))
    writer.end_list(1000)

    def names(text: str) -> set[str]:
        return {found.name for found in lister.select(ListQuery(labels=LabelSelector.parse(text)))}

    assert names("a=x,b=y") == {f"n{number}" for number in range(1, MIN_OBJECTS_FOR_INDEX, 2)}
    changed = record(0, 2000, {"a": "w", "b": "z"})
    lister.wrote(changed.data)
    before = names("a=w,b=z"), names("a=x,b=z"), "n0" in names("a=x,b=x")
    writer.put(changed)
    assert before == (names("a=w,b=z"), names("a=x,b=z"), "n0" in names("a=x,b=x")) == ({"n0"}, set(), False)
