"""Compiled schemas: an object that the fast path accepts is not changed by the full walks."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.apiserver._apiextensions.compiled import compile_object
from pyctrl.apiserver._apiextensions.pruning import prune
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, all_fields, ordered
from pyctrl.apiserver._schema.defaulting import apply_defaults, prune_nulls
from pyctrl.apiserver._schema.schema import SchemaNode, compile_structural
from pyctrl.apiserver._schema.validation import validate, validate_list_types
from tests.unit.apiserver._objects import spec_schema

NAMES = st.sampled_from(["a", "b", "name"])
SOME_TEXTS = ["", "a", "ab", "b", "10Mi", "2001-01-01"]
SOME_NUMBERS = [-1, 0, 1, 2, 3, 1 << 31, 1 << 63, 0.5, 2.0]
TEXTS, NUMBERS = st.sampled_from(SOME_TEXTS), st.sampled_from(SOME_NUMBERS)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
SOME_SCALARS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "default": "a"},
    {"type": "string", "nullable": True},
    {"type": "string", "enum": ["a", "ab"]},
    {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 1},
    {"type": "string", "format": "date"},
    {"type": "integer"},
    {"type": "integer", "format": "int32", "minimum": 0.5, "maximum": 2, "exclusiveMaximum": True},
    {"type": "integer", "format": "int32"},
    {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
    {"type": "integer", "multipleOf": 2},
    {"type": "integer", "enum": [1, 2], "default": 2},
    {"type": "number", "minimum": 0},
    {"type": "boolean"},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^1"},
    {"type": "string", "oneOf": [{"pattern": "^a"}, {"pattern": "b$"}]},
    {"x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
]
SCALARS = st.sampled_from(SOME_SCALARS)


def _containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    named = {"type": "object", "properties": {"name": {"type": "string"}, "a": {"type": "integer", "default": 1}}}
    more = st.sampled_from(
        [
            {},
            {"required": ["a"]},
            {"nullable": True, "minProperties": 1},
            {"x-kubernetes-preserve-unknown-fields": True},
            {"x-kubernetes-map-type": "atomic"},
            {"not": {"required": ["b"]}},
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ]
    )
    properties = st.dictionaries(NAMES, inner, max_size=3)
    objects = st.builds(lambda found, extra: {"type": "object", "properties": found, **extra}, properties, more)
    maps = st.builds(lambda each: {"type": "object", "additionalProperties": each}, inner)
    lists = st.builds(lambda each: {"type": "array", "items": each, "minItems": 1, "maxItems": 2}, inner)
    keyed = st.builds(
        lambda keys: {
            "type": "array",
            "items": named,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys,
        },
        st.sampled_from([["name"], ["a"], ["name", "a"]]),
    )
    sets = st.builds(lambda each: {"type": "array", "items": each, "x-kubernetes-list-type": "set"}, SCALARS)
    return objects | maps | lists | keyed | sets


KEYED: dict[str, Any] = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": {"type": "string"}}},
}
ATOMIC = {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "properties": {"name": {"type": "string"}, "list": KEYED},
}
SCHEMAS = st.recursive(SCALARS, _containers, max_leaves=6)
ANY_TYPE: dict[str, st.SearchStrategy[Any]] = {"string": TEXTS, "integer": NUMBERS, "boolean": st.booleans()}


def _fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values of a schema, some of them invalid."""
    if "items" in schema:
        near: st.SearchStrategy[Any] = st.lists(_fitting(schema["items"]), max_size=3)
    elif "additionalProperties" in schema:
        near = st.dictionaries(NAMES, _fitting(schema["additionalProperties"]), max_size=2)
    elif schema.get("properties"):
        optional = {key: _fitting(each) for key, each in schema["properties"].items()}
        near = st.fixed_dictionaries({}, optional={**optional, "b": optional.get("b", TEXTS)})
    else:
        near = ANY_TYPE.get(schema.get("type", ""), TEXTS | NUMBERS)
    return st.one_of(near, near, near, near, near, VALUES)


PAIRS = SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema), _fitting(schema)))


def _decode(node: SchemaNode, obj: dict[str, Any]) -> FieldSet | None:
    schema = compile_object(node)
    return schema.decode(obj) if schema.has_declared_types(obj) else None


def _check(schema: dict[str, Any], value: Any) -> None:
    """Check that the result of the fast path is that of the full walks, without errors, and which fields it has."""
    node = compile_structural(spec_schema({"a": schema}))
    settled, slow = {"spec": {"a": value}}, {"spec": {"a": copy.deepcopy(value)}}
    fields = _decode(node, settled)
    if fields is None:
        return
    assert json.dumps(fields) == json.dumps(ordered(all_fields(node, settled)))
    unknown: list[str] = []
    prune(node, slow, unknown, lambda _key, field, _path, _unknown: field)
    prune_nulls(node, slow)
    apply_defaults(node, slow)
    assert unknown == []
    assert settled == slow
    assert validate(node, slow) == []
    assert validate_list_types(node, slow) == []


@pytest.mark.parametrize("schema", SOME_SCALARS, ids=json.dumps)
def test_a_settled_scalar_has_nothing_wrong(schema: dict[str, Any]) -> None:
    """Scalars of every type that the fast path accepts are valid."""
    for value in (None, True, {}, [], {"a": 1}, [None], *SOME_TEXTS, *SOME_NUMBERS):
        _check(schema, value)


@settings(max_examples=500)
@given(PAIRS)
def test_what_is_settled_has_nothing_to_prune_and_nothing_wrong(pair: tuple[dict[str, Any], Any]) -> None:
    """An object that the fast path accepts is, with its defaults and managed fields, the result of the full walks."""
    _check(*pair)


@settings(max_examples=300)
@given(PAIRS)
def test_json_that_is_read_by_its_schema_has_nothing_unknown(pair: tuple[dict[str, Any], Any]) -> None:
    """JSON is read by its schema only if that is the same as to decode it and to find no unknown key."""
    node = compile_structural(spec_schema({"a": pair[0]}))
    obj = {"kind": "Thing", "metadata": {"name": "a"}, "spec": {"a": pair[1]}}
    schema = compile_object(node)
    found = schema.read(msgspec.json.encode(obj))
    if found is not None:
        assert json.dumps(found) == json.dumps(obj)
        assert schema.has_declared_types(obj)


@given(PAIRS)
def test_an_unsettled_object_is_left_to_the_slow_walks(pair: tuple[dict[str, Any], Any]) -> None:
    """Defaults that the fast path sets before it stops do not change the result of the full walks."""
    schema, value = pair
    node = compile_structural(spec_schema({"a": schema}))
    tried, slow = {"spec": {"a": value}}, {"spec": {"a": copy.deepcopy(value)}}
    _decode(node, tried)
    for obj in (tried, slow):
        prune(node, obj, [], lambda _key, field, _path, _unknown: field)
        prune_nulls(node, obj)
        apply_defaults(node, obj)
    assert tried == slow


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (KEYED, [{"name": "a"}, {}]),
        (KEYED, [{}, {"name": 'a":'}, {"name": "a"}]),
        ({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": KEYED}}, {"a": [{"name": "a"}]}),
        ({"type": "object", "properties": {"a": KEYED, "b": {"type": "object"}}}, {"a": [{"name": "a"}], "b": {}}),
        ({**KEYED, "items": ATOMIC}, [{"name": "a", "list": [{"name": "b"}]}]),
    ],
)
def test_lists_by_key_have_the_fields_of_the_full_walk(schema: dict[str, Any], value: Any) -> None:
    """Items without their key, keys with quotes, and lists inside atomic objects are owned as the full walk says."""
    assert _decode(compile_structural(spec_schema({"a": schema})), {"spec": {"a": copy.deepcopy(value)}})
    _check(schema, value)


def test_defaults_are_not_shared() -> None:
    """A list that an object has by default is its own: a change of it changes no later object."""
    schema = {"type": "array", "items": {"type": "string"}, "default": ["a"]}
    decode = compile_object(compile_structural(spec_schema({"a": schema}))).decode
    objects: list[dict[str, Any]] = [{"spec": {}}, {"spec": {}}]
    for obj in objects:
        assert decode(obj) is not None
        obj["spec"]["a"].append("b")
    assert objects[1] == {"spec": {"a": ["a", "b"]}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "enum": ["a"]}, "a"),
        ({"type": "string", "format": "date-time", "nullable": True}, None),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2),
        (
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^1"},
            "10Mi",
        ),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, 1),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": "b"}),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean", "default": False}}}, {}),
        ({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "boolean"}}}, {"a": True}),
        ({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, ["a", "b"]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}, ["a", "b"]),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"any": [None, {"thing": 1}]}),
    ],
)
def test_common_values_are_settled(schema: dict[str, Any], value: Any) -> None:
    """The fast path accepts valid values of common schemas."""
    node = compile_structural(spec_schema({"a": schema}))
    assert _decode(node, {"apiVersion": "g/v1", "kind": "K", "metadata": {}, "spec": {"a": value}}) is not None
