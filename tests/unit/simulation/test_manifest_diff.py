"""Differences of manifests, as patches and in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyctrl.simulation._manifest_diff import describe, merge_diff

Json = dict[str, Any]

values = st.recursive(
    st.booleans() | st.integers(0, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)


def merged(value: Any, patch: Any) -> Any:
    """Return a value with a JSON merge patch applied, as RFC 7396 defines it."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for name, inner in patch.items():
        if inner is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), inner)
    return found


@settings(max_examples=50)
@given(objects, objects)
@example({"x": [0]}, {"x": [False]})
@example({"x": [{"y": 1}]}, {"x": [{"y": True}]})
def test_merge_diff(old: Json, new: Json) -> None:
    """The patch makes the new manifest of the old one, and is empty if they are equal."""
    patch = merge_diff(old, new)
    assert repr(sorted_(merged(old, patch))) == repr(sorted_(new))
    assert bool(patch) == (repr(sorted_(old)) != repr(sorted_(new)))


def sorted_(value: Any) -> Any:
    """Return a value with sorted fields; its repr tells 1 from True."""
    if isinstance(value, dict):
        return {name: sorted_(value[name]) for name in sorted(value)}
    return [sorted_(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ({"spec": {"size": 3}}, {"spec": {"size": 4}}, "change spec.size of Web a from 3 to 4"),
        ({"spec": {"size": 3}}, {}, "remove spec.size of Web a"),
        ({}, {"spec": {"on": True}}, "set spec.on of Web a to true"),
        ({"x": [1]}, {"x": [1, 2]}, "add 2 to x of Web a"),
        ({"x": [1, 2]}, {"x": [1]}, "remove 2 from x of Web a"),
        ({"x": [{"image": "a"}]}, {"x": [{"image": "b"}]}, 'change x[0].image of Web a from "a" to "b"'),
        ({"x": 1}, {"x": True}, "change x of Web a from 1 to true"),
        ({"x": "a" * 90}, {"x": 1}, f'change x of Web a from "{"a" * 38}… to 1'),
        ({"x": 1}, {"x": 1}, "apply Web a without a change"),
        (
            {},
            dict.fromkeys("vwxyz", 1),
            "set v of Web a to 1, set w of Web a to 1, set x of Web a to 1, 2 more",
        ),
    ],
)
def test_describe(old: Json, new: Json, text: str) -> None:
    """A difference is told by fields."""
    assert describe(old, new, "Web a") == text


def test_back() -> None:
    """What goes back to the base comes last."""
    base = {"a": 1, "b": 1}
    assert describe({"a": 2, "b": 1}, {"a": 1, "b": 2}, "Web a", base) == "change b of Web a from 1 to 2, a back"
    assert describe({"a": 2, "b": 1}, base, "Web a", base) == "change a of Web a back"
