"""Patches between documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import json_patch_apply
from pyctrl.webhook._json_diff import json_diff

LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b/c", "~", "", "0"]), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b/c", "~", ""]), DOCUMENTS, max_size=4)


@given(before=OBJECTS, after=OBJECTS)
def test_a_patch_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    """Applying the patch to the first document gives the second, with true distinct from 1."""
    assert json.dumps(json_patch_apply(before, list(json_diff(before, after))), sort_keys=True) == json.dumps(
        after, sort_keys=True
    )


@given(document=OBJECTS)
def test_equal_documents_need_no_patch(document: Any) -> None:
    """The patch between equal documents is empty."""
    assert json_diff(document, json.loads(json.dumps(document))) == ()


def test_one_item_more_is_one_operation() -> None:
    """An item inserted in a list is one operation."""
    assert json_diff({"a": [1, 2, 3]}, {"a": [1, 9, 2, 3]}) == ({"op": "add", "path": "/a/1", "value": 9},)
    assert json_diff({"a": [1, 2, 3]}, {"a": [1, 3]}) == ({"op": "remove", "path": "/a/1"},)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": True}, {"a": 1}),
        ({"a": [1, 0]}, {"a": [True, False]}),
        ({"a": [1, 2, 3, 4, 5]}, {"a": [9, 8]}),
        ({"a": [1, 2, 3, 4]}, {"a": [4]}),
        ({"a/b": 1, "a~b": 1, "~1": 1}, {"a/b": 2, "a~b": 2}),
        ({"a": {"b": []}}, {"a": {"b": [1, {"c": None}]}}),
        ({"a": None}, {}),
    ],
    ids=str,
)
def test_patches_of_cases_that_chance_seldom_finds(before: Any, after: Any) -> None:
    """Booleans that equal numbers, lists that lose several items, and names with / and ~ are patched exactly."""
    patched = json_patch_apply(json.loads(json.dumps(before)), list(json_diff(before, after)))
    assert json.dumps(patched, sort_keys=True) == json.dumps(after, sort_keys=True)
