"""The changes that a store writer delivers: which ones, in which order, and what can be read by then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pyctrl.api import Key, LabelSelector
from pyctrl.cache import Change, Created, Deleted, Updated
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import RecordReader
from pyctrl.cache._store_writer import StoreWriter
from tests.unit.cache._kit import CONFIGMAP, Mirror, body

X = LabelSelector.parse("l=x")


def _listed(*writers: StoreWriter, version: int, objects: Sequence[bytes] = ()) -> None:
    """Give each writer a complete list."""
    read = RecordReader()
    for writer in writers:
        writer.begin_list()
        for each in objects:
            writer.put(read(each))
        writer.end_list(version)


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_delete_and_recreate_that_were_missed_are_two_changes(is_listed: bool) -> None:
    """Another uid of a name is delivered as Deleted with the last known state, then Created, by a list or an event."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    writer = lister.add_writer(Coverage(), [mirror])
    _listed(writer, version=5, objects=[body("a", 3, uid="one")])

    if is_listed:
        _listed(writer, version=9, objects=[body("a", 8, uid="two")])
    else:
        writer.put(read(body("a", 8, uid="two")))

    _, deleted, created = mirror.changes
    assert isinstance(deleted, Deleted)
    assert (deleted.old.uid, deleted.old.version, deleted.was_seen) == ("one", 3, False)
    assert isinstance(created, Created)
    assert (created.new.uid, created.initial) == ("two", False)


def test_a_deletion_says_whether_its_last_state_was_seen() -> None:
    """A DELETED event delivers the last state of the object; an object that a list lacks was not seen to go."""
    mirror, read = Mirror(), RecordReader()
    writer = Lister(CONFIGMAP, read).add_writer(Coverage(), [mirror])
    _listed(writer, version=5, objects=[body("a", 2), body("b", 3)])

    writer.remove(read(body("a", 6)))
    _listed(writer, version=9)

    told = [(each.old.name, each.old.version, each.was_seen) for each in mirror.changes if isinstance(each, Deleted)]
    assert told == [("a", 6, True), ("b", 3, False)]


def test_only_objects_of_the_first_list_are_initial() -> None:
    """Objects of the first list existed before; objects of later lists and events are new."""
    mirror, read = Mirror(), RecordReader()
    writer = Lister(CONFIGMAP, read).add_writer(Coverage(), [mirror])
    _listed(writer, version=5, objects=[body("a", 2)])

    writer.put(read(body("b", 6)))
    _listed(writer, version=9, objects=[body("a", 2), body("b", 6), body("c", 8)])

    told = [(each.new.name, each.initial) for each in mirror.changes if isinstance(each, Created)]
    assert told == [("a", True), ("b", False), ("c", False)]


def test_events_that_are_repeated_change_nothing() -> None:
    """After a resume at an older version neither a deleted object comes back nor its successor goes."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    writer = lister.add_writer(Coverage(), [mirror])
    _listed(writer, version=5)
    for _ in range(2):
        writer.put(read(body("a", 6, uid="one")))
        writer.remove(read(body("a", 7, uid="one")))
        writer.advance_to(7)
    assert lister.find(Key("default", "a")) is None

    writer.put(read(body("a", 8, uid="two")))
    writer.advance_to(8)
    writer.remove(read(body("a", 7, uid="one")))

    assert mirror.versions == {("default", "a"): 8}
    assert [type(change) for change in mirror.changes] == [Created, Deleted, Created]


def test_events_after_a_restore_are_taken_at_their_lower_versions() -> None:
    """After a list with an older version, events continue from there."""
    mirror, read = Mirror(), RecordReader()
    writer = Lister(CONFIGMAP, read).add_writer(Coverage(), [mirror])
    _listed(writer, version=9, objects=[body("a", 8)])
    _listed(writer, version=4, objects=[body("a", 3)])

    writer.put(read(body("a", 5)))

    assert (mirror.versions, writer.progress) == ({("default", "a"): 5}, 4)


def test_an_object_of_two_parts_stays_until_both_lack_it() -> None:
    """An update that one part reports does not release the object for the other part."""
    mirror, read = Mirror(), RecordReader()
    lister = Lister(CONFIGMAP, read)
    every, labelled = [lister.add_writer(coverage, [mirror]) for coverage in (Coverage(), Coverage(labels=X))]
    _listed(every, labelled, version=5, objects=[body("a", 3, labels={"l": "x"})])

    labelled.put(read(body("a", 6, labels={"l": "x"})))
    labelled.advance_to(6)
    _listed(labelled, version=7)  # without the object: it has lost its label
    assert lister.find(Key("default", "a")) is not None

    _listed(every, version=8)
    assert lister.find(Key("default", "a")) is None
    assert [type(change) for change in mirror.changes] == [Created, Updated, Deleted]


def test_a_listener_reads_what_it_is_notified_of() -> None:
    """When a listener is notified, reads and indexes have the change already."""
    read = RecordReader()
    lister = Lister(CONFIGMAP, read)
    lister.add_index("name", lambda record: [record.name])
    seen: list[tuple[str, int, int]] = []

    class Reader:
        def push(self, change: Change) -> None:
            found = lister.find(Key("default", "a"))
            indexed = list(lister.overlay.select(None, ("name", "a")))
            seen.append((type(change).__name__, found.version if found else 0, len(indexed)))

    writer = lister.add_writer(Coverage(), [Reader()])
    _listed(writer, version=5, objects=[body("a", 3)])
    writer.put(read(body("a", 6)))
    writer.remove(read(body("a", 7)))

    assert seen == [("Created", 3, 1), ("Updated", 6, 1), ("Deleted", 0, 0)]
