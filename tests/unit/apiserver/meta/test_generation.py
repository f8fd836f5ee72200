"""Comparison of object states, and the generation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._meta.generation import bump_generation, keep_metadata, same_content, same_json

OLD: dict[str, Any] = {"metadata": {"generation": 3, "annotations": {"a": "b"}}, "spec": {"n": 1}, "status": {"m": 1}}


@pytest.mark.parametrize(
    ("change", "options", "generation"),
    [
        ({}, {}, 3),
        ({"spec": {"n": 2}}, {}, 4),
        ({"spec": {"n": 1.0}}, {}, 3),
        ({"data": 1}, {}, 4),
        ({"status": {"m": 2}}, {}, 3),
        ({"status": {"m": 2}}, {"with_status": True}, 4),
        ({"metadata": {"annotations": {}}}, {}, 3),
        ({"metadata": {"annotations": {}}}, {"metadata": ("annotations",)}, 4),
    ],
)
def test_the_generation_counts_changes_of_the_spec(
    change: dict[str, Any], options: dict[str, Any], generation: int
) -> None:
    """Changes of metadata and status increment the generation only for some kinds."""
    new = {**OLD, "metadata": dict(OLD["metadata"]), **change}
    bump_generation(new, OLD, **options)
    assert new["metadata"]["generation"] == generation


@pytest.mark.parametrize(("left", "right", "is_same"), [(1, 1.0, True), (1, True, False), ([0], [False], False)])
def test_json_is_compared_by_value(left: Any, right: Any, is_same: bool) -> None:
    """A number equals the same number in another form, but not a boolean."""
    assert same_json({"a": left}, {"a": right}) is is_same


def test_versions_and_times_are_no_content() -> None:
    """A write that changes only resourceVersion and the times of managed fields is no change."""
    new = {"metadata": {"resourceVersion": "1", "managedFields": [{"manager": "m", "time": "t"}]}}
    old = {"metadata": {"resourceVersion": "2", "managedFields": [{"manager": "m", "time": "u"}]}}
    assert same_content(new, old)
    old["metadata"]["managedFields"] = [{"manager": "n", "time": "u"}]
    assert not same_content(new, old)


def test_kept_fields_have_their_old_values() -> None:
    """A field that the old state lacks is removed."""
    new = {"labels": {"a": "b"}, "uid": "new", "name": "x"}
    keep_metadata(new, {"uid": "old"}, ("labels", "uid"))
    assert new == {"uid": "old", "name": "x"}
