"""Merge patches and JSON patches change only the fields they name."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import json_patch_apply, merge_patch_apply, merge_patch_diff
from pyctrl.errors import PatchError

scalars = st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.5]) | st.text(alphabet="ab", max_size=2)
names = st.text(alphabet="abc", max_size=1)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
documents = st.dictionaries(names, values, max_size=4)
with_nulls = st.recursive(
    scalars | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def strictly(value: Any) -> Any:
    """Distinguish true from 1, which are equal in Python."""
    if isinstance(value, dict):
        return {name: strictly(part) for name, part in value.items()}
    if isinstance(value, list):
        return [strictly(part) for part in value]
    return (isinstance(value, bool), value)


@given(documents, documents)
def test_diff_applied_gives_the_second_document(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Applying the difference of two documents to the first gives the second and changes neither."""
    kept = copy.deepcopy((before, after))
    patch = merge_patch_diff(before, after)
    assert strictly(merge_patch_apply(before, patch)) == strictly(after)
    assert (before, after) == kept


@given(documents)
def test_diff_of_equal_documents_is_empty(document: dict[str, Any]) -> None:
    """The difference of equal documents is empty."""
    assert merge_patch_diff(document, copy.deepcopy(document)) == {}


@given(with_nulls, with_nulls)
def test_patch_applies_twice_as_once(target: Any, patch: Any) -> None:
    """Applying a merge patch twice gives the same result as once."""
    kept = copy.deepcopy((target, patch))
    once = merge_patch_apply(target, patch)
    assert merge_patch_apply(once, patch) == once
    assert (target, patch) == kept


def test_diff_names_only_what_changed() -> None:
    """A removed member is null, a changed list is complete, an unchanged member is absent."""
    before = {"metadata": {"labels": {"a": "1", "b": "2"}, "name": "x"}, "spec": {"ports": [1, 2], "size": 3}}
    after = {"metadata": {"labels": {"b": "2"}, "name": "x"}, "spec": {"ports": [1], "size": 3}}
    assert merge_patch_diff(before, after) == {"metadata": {"labels": {"a": None}}, "spec": {"ports": [1]}}


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": [0]}, {"a": [False]}, {"a": [False]}),
        ({"a": 1}, {"a": 1.0}, {}),
        ({"a": None}, {}, {}),
        ({}, {"a": None}, {}),
        ({"a": 1}, {"a": {}}, {"a": {}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
    ],
)
def test_diff_of_near_equals(before: dict[str, Any], after: dict[str, Any], patch: dict[str, Any]) -> None:
    """`true` differs from 1, 1 equals 1.0, and null equals an absent member."""
    assert strictly(merge_patch_diff(before, after)) == strictly(patch)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a"], ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_apply_follows_the_standard(target: Any, patch: Any, result: Any) -> None:
    """The examples of RFC 7396 hold, including nulls and replaced types."""
    assert merge_patch_apply(target, patch) == result


def test_json_patch_changes_a_copy() -> None:
    """The operations apply in order to a copy; the document does not change."""
    document = {"spec": {"size": 1, "items": ["a"]}}
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/spec/size", "value": 1},
        {"op": "replace", "path": "/spec/size", "value": 2},
        {"op": "add", "path": "/spec/items/-", "value": "b"},
        {"op": "remove", "path": "/spec/items/0"},
    ]
    assert json_patch_apply(document, operations) == {"spec": {"size": 2, "items": ["b"]}}
    assert document == {"spec": {"size": 1, "items": ["a"]}}


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "not equal"),
        ({"op": "remove", "path": "/b"}, "non-existent"),
        ({"op": "replace", "path": "/b", "value": 1}, "non-existent"),
        ({"op": "add", "path": "/x/y", "value": 1}, "x"),
        ({"op": "add", "path": "/l/9", "value": 1}, "outside of list"),
        ({"op": "add", "path": "a", "value": 1}, "start with /"),
        ({"op": "copy", "from": "/b", "path": "/c"}, "cannot be applied: 'b'"),
        ({"op": "fly", "path": "/a"}, "fly"),
        ({"op": "add", "path": "/a"}, "value"),
        ({"path": "/a"}, "op"),
        ("add", "object with op and path"),
    ],
)
def test_json_patch_mistakes_name_the_operation(operation: Any, words: str) -> None:
    """The error for a failing operation has its number and the reason."""
    operations: list[Any] = [{"op": "test", "path": "/a", "value": 1}, operation]
    with pytest.raises(PatchError, match=r"operation 1 of the JSON patch") as raised:
        json_patch_apply({"a": 1, "l": []}, operations)
    assert words in str(raised.value)


def test_json_patch_is_a_list() -> None:
    """A merge patch passed as a JSON patch is refused with an error that says so."""
    with pytest.raises(PatchError, match="is a list of operations"):
        json_patch_apply({}, {"a": 1})  # type: ignore[arg-type]
