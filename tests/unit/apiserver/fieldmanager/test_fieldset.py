"""Field sets: set operations, and the field sets of values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._fieldmanager.fieldset import (
    Comparison,
    FieldSet,
    all_fields,
    difference,
    intersection,
    ordered,
    paths,
    recursive_difference,
    to_field_set,
    union,
)
from pyctrl.apiserver._schema.schema import compile_structural

NODE = compile_structural(
    {
        "type": "object",
        "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "integer"}}},
            "atomic": {"type": "array", "items": {"type": "string"}},
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "keyed": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "protocol"],
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "protocol": {"type": "string", "default": "TCP"},
                        "v": {"type": "integer"},
                    },
                },
            },
        },
    }
)
ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"n":9}', 'k:{"n":10}'])
SETS: st.SearchStrategy[FieldSet] = st.recursive(
    st.just({}), lambda below: st.dictionaries(st.one_of(ELEMENTS, st.just(".")), below, max_size=3), max_leaves=8
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "map": st.dictionaries(st.sampled_from("kl"), st.sampled_from("12"), max_size=2),
        "whole": st.fixed_dictionaries({}, optional={"a": st.integers(0, 2)}),
        "atomic": st.lists(st.sampled_from("xy"), max_size=2),
        "set": st.lists(st.sampled_from("xyz"), max_size=3, unique=True),
        "keyed": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("ab"), "v": st.integers(0, 2)}),
            max_size=2,
            unique_by=lambda item: item["name"],
        ),
    },
)


def _members(fields: FieldSet) -> set[str]:
    return set(paths(fields))


def _whole(fields: FieldSet) -> FieldSet:
    """Return a set in the form of managed fields, in which `.` is never the only member."""
    clean = {key: _whole(below) for key, below in fields.items() if key != "."}
    return {".": {}, **clean} if "." in fields and clean else clean


ROOTED = st.dictionaries(ELEMENTS, SETS.map(_whole), max_size=3)


@given(ROOTED, ROOTED)
def test_the_algebra_is_that_of_sets_of_paths(left: FieldSet, right: FieldSet) -> None:
    """Union, difference and intersection of field sets are those of their paths."""
    ours, theirs = _members(left), _members(right)
    assert _members(union(left, right)) == ours | theirs
    assert _members(difference(left, right)) == ours - theirs
    assert _members(intersection(left, right)) == ours & theirs


@given(ROOTED, ROOTED)
def test_the_operations_keep_the_order_of_managed_fields(left: FieldSet, right: FieldSet) -> None:
    """What comes of two sets in order is in order: it can be written as it is."""
    left, right = ordered(left), ordered(right)
    for operation in (union, difference, recursive_difference, intersection):
        found = operation(left, right)
        assert json.dumps(found) == json.dumps(ordered(found))


@given(ROOTED, ROOTED)
def test_leaving_out_a_field_leaves_out_what_is_below(left: FieldSet, right: FieldSet) -> None:
    """`recursive_difference` removes members and everything below them."""
    gone = _members(right)
    kept = {
        path
        for path in _members(left)
        if not any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in gone)
    }
    assert _members(recursive_difference(left, right)) == kept


@given(VALUES, VALUES)
def test_a_comparison_finds_nothing_between_equals_and_all_between_others(old: Any, new: Any) -> None:
    """Equal values have no difference; different ones have an added, removed or modified field."""
    comparison = Comparison(NODE, old, new)
    differs = bool(comparison.added or comparison.removed or comparison.modified)
    assert differs == (old != new and not _same_but_order(old, new))
    assert not _members(comparison.added) & _members(comparison.removed)


def _same_but_order(old: Any, new: Any) -> bool:
    """Lists with keys own their items, but not the order of the items."""

    def unordered(value: Any) -> Any:
        lists = {key: sorted(value[key], key=str) for key in ("set", "keyed") if key in value}
        return {**value, **lists}

    return bool(unordered(old) == unordered(new))


@given(VALUES)
def test_what_is_added_to_nothing_is_everything(value: Any) -> None:
    """Comparing with nothing returns every field of the value."""
    assert Comparison(NODE, {}, value).added == all_fields(NODE, value)


def test_fields_are_named_as_on_the_wire() -> None:
    """Maps are owned by key, keyed lists by item, sets by value, atomic values as a whole."""
    value = {
        "map": {"k": "1"},
        "whole": {"a": 1},
        "atomic": ["x"],
        "set": ["y"],
        "keyed": [{"name": "n", "v": 1}],
    }
    assert to_field_set(NODE, value) == {
        "f:map": {"f:k": {}},
        "f:whole": {},
        "f:atomic": {},
        "f:set": {'v:"y"': {}},
        "f:keyed": {'k:{"name":"n","protocol":"TCP"}': {".": {}, "f:name": {}, "f:v": {}}},
    }
    assert list(paths(to_field_set(NODE, {"keyed": value["keyed"]}))) == [
        '.keyed[name="n",protocol="TCP"]',
        '.keyed[name="n",protocol="TCP"].name',
        '.keyed[name="n",protocol="TCP"].v',
    ]


def test_a_boolean_is_no_number() -> None:
    """Without a declared type, a change from `true` to 1 is a change, also in lists; from 1 to 1.0 is none."""
    free = compile_structural({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    before = {"a": {"b": True, "c": 1}, "l": [1], "n": 1}
    after = {"a": {"b": 1, "c": 1}, "l": [True], "n": 1.0}

    assert Comparison(free, before, after).changed == {"f:a": {"f:b": {}}, "f:l": {}}


def test_repeated_items_are_owned_as_one() -> None:
    """Items with the same keys are one member without fields; when one remains, its fields are owned again."""
    one = {"set": ["a", "b"]}
    two = {"set": ["a", "a", "b"]}

    assert Comparison(NODE, {}, two).added == {"f:set": {".": {}, 'v:"a"': {}, 'v:"b"': {}}}
    assert Comparison(NODE, one, two).changed == {"f:set": {'v:"a"': {}}}
    assert Comparison(NODE, two, two).changed == {}
