"""Predicates, which filter changes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.controller import (
    Predicate,
    annotations_changed,
    changed,
    generation_changed,
    labels_changed,
    labels_match,
    on_create,
    on_delete,
    on_update,
    resource_version_changed,
    where,
)
from pyctrl.errors import SelectorError
from tests.unit.controller._changes import Thing, created, deleted, record, updated


@pytest.mark.parametrize(
    ("predicate", "difference"),
    [
        (generation_changed, {"generation": 2}),
        (labels_changed, {"labels": {"app": "web"}}),
        (annotations_changed, {"annotations": {"a": "b"}}),
        (resource_version_changed, {"resource_version": "2"}),
    ],
)
def test_predicates_of_metadata_let_updates_through_that_change_it(
    predicate: Predicate, difference: dict[str, Any]
) -> None:
    """Each metadata predicate compares its own field on updates; creations and deletions always pass."""
    other: dict[str, Any] = {"finalizers": ["example.com/keep"]}
    assert predicate(updated(record(), record(**difference)))
    assert not predicate(updated(record(), record(**other)))
    assert predicate(created(record()))
    assert predicate(deleted(record()))


def test_a_function_of_old_and_new_decides_about_updates() -> None:
    """``changed`` compares the decoded objects of updates; creations and deletions pass."""
    predicate: Predicate[Thing] = changed(lambda old, new: old.spec.size != new.spec.size)
    assert predicate(updated(record(1), record(2)))
    assert not predicate(updated(record(1), record(1, labels={"a": "b"})))
    assert predicate(created(record()))
    assert predicate(deleted(record()))


def test_a_function_of_the_object_sees_the_newest_state() -> None:
    """``where`` checks the new object, or the last state of a deleted one."""
    predicate: Predicate[Thing] = where(lambda thing: thing.spec.size > 1)
    assert predicate(created(record(2)))
    assert predicate(updated(record(1), record(2)))
    assert not predicate(updated(record(2), record(1)))
    assert predicate(deleted(record(2)))


def test_labels_are_matched_with_selectors() -> None:
    """Label selectors are text or parsed; invalid text raises an error at once."""
    predicate = labels_match("app in (web, db)")
    assert predicate(created(record(labels={"app": "db"})))
    assert not predicate(created(record()))
    with pytest.raises(SelectorError):
        labels_match("app in (")


def test_kinds_of_changes_can_be_told_apart() -> None:
    """Creation, update and deletion have predicates of their own."""
    changes = [created(record()), updated(record(), record()), deleted(record())]
    for predicate, expected in ((on_create, "created"), (on_update, "updated"), (on_delete, "deleted")):
        assert [change.change for change in changes if predicate(change)] == [expected]


def test_predicates_combine() -> None:
    """``&``, ``|`` and ``~`` combine predicates and plain functions, and the repr shows the parts."""
    grown = updated(record(), record(generation=2))
    both = generation_changed & labels_changed
    either = generation_changed | labels_changed
    assert not both(grown)
    assert either(grown)
    assert not (~generation_changed)(grown)
    assert (generation_changed & (lambda change: change.change == "updated"))(grown)
    assert repr(~both | on_delete) == "(~(generation_changed & labels_changed) | on_delete)"
