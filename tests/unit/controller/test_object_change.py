"""Changes of objects, as passed to predicates and handlers."""

from __future__ import annotations

from tests.unit.controller._changes import created, deleted, record, updated


def test_objects_are_decoded_once_and_only_when_asked_for() -> None:
    """An object is decoded on first access and shared by all later accesses."""
    change = updated(record(1), record(2))
    assert (change.old, change.new) == (change.old, change.new)
    assert change.new is change.new
    assert [thing.spec.size for thing in change.objects] == [1, 2]
    assert created(record()).old is None
    assert deleted(record()).new is None


def test_a_resync_is_an_update_in_which_nothing_changed() -> None:
    """An update with an unchanged version is a resync."""
    assert updated(record(), record()).is_resync
    assert not updated(record(), record(resource_version="2")).is_resync
