"""The messages of patches: construction, type names, JSON."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel import (
    DYN,
    CompileFailed,
    Environment,
    EvaluationFailed,
    InstantiationFailed,
    object_value_json,
    type_name_problems,
    value_json,
)
from pyctrl.cel._patch_types import go_formats

ENVIRONMENT = Environment({"object": DYN}, has_patch_types=True)


def _evaluated(text: str) -> Any:
    return ENVIRONMENT.compile(text).evaluate({"object": {"a": 1}})


@pytest.mark.parametrize(
    ("text", "kind", "json"),
    [
        ("Object{spec: Object.spec{replicas: 3, ?x: optional.none()}}", "Object", {"spec": {"replicas": 3}}),
        ("[JSONPatch{op: 'add', value: object.a}]", "list(JSONPatch)", [{"op": "add", "value": 1}]),
        ("true ? [JSONPatch{}] : []", "list(JSONPatch)", [{}]),
        ("jsonpatch.escapeKey('a/b~c')", "string", "a~1b~0c"),
        ("Object{a: 1} == Object{a: 1} && Object{} != dyn({})", "bool", True),
    ],
)
def test_expressions_construct_objects_and_operations(text: str, kind: str, json: Any) -> None:
    """The type is checked when the expression is compiled; the value is an object with the given fields."""
    assert str(ENVIRONMENT.compile(text).type) == kind
    assert object_value_json(_evaluated(text)) == json


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Foo{}", "1:4: undeclared reference to 'Foo' (in container '')"),
        ("string{}", "1:7: 'string' is not a message type"),
        ("object{}", "1:7: 'dyn' is not a type"),
        ("Object{?a: 1}", "1:12: expected type 'optional_type(int)' but found 'int'"),
        ("Object{`a-b`: 1}", "1:8: unsupported syntax: '`'"),
        ("JSONPatch{op: 1}", "1:13: expected type of field 'op' is 'string' but provided type is 'int'"),
        ("JSONPatch{foo: 'a'}", "1:14: expected type of field 'foo' is '' but provided type is 'string'"),
    ],
)
def test_messages_are_type_checked(text: str, error: str) -> None:
    """The errors are cel-go's."""
    with pytest.raises(CompileFailed) as failed:
        ENVIRONMENT.compile(text)
    assert error in str(failed.value)


def test_the_type_of_a_patch_is_not_a_value() -> None:
    """An expression that compares with `Object` type-checks and cannot be instantiated, as upstream."""
    with pytest.raises(InstantiationFailed, match="reference to undefined type: Object"):
        ENVIRONMENT.compile("type(1) == Object")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("JSONPatch{op: dyn(1)}", "unexpected type int64 for JSONPatchType 'op' field"),
        ("JSONPatch{op: dyn([1])}", "unexpected type []ref.Val for JSONPatchType 'op' field"),
        ("JSONPatch{foo: dyn(1)}", "unexpected JSONPatchType field: foo"),
    ],
)
def test_values_of_any_type_are_checked_at_evaluation(text: str, error: str) -> None:
    """A field with a value of the wrong type fails."""
    with pytest.raises(EvaluationFailed) as failed:
        _evaluated(text)
    assert str(failed.value) == error


def test_names_of_types_follow_the_fields() -> None:
    """A type name must be the path of its field, through lists and maps too."""
    assert not type_name_problems(_evaluated("Object{a: [Object.a{b: {'k': Object.a.b{}}}]}"))
    (problem,) = type_name_problems(_evaluated("Object{a: [Object.b{}]}"))
    assert problem.startswith('unexpected type name "Object.b", expected "Object.a"')


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("9007199254740993", "9007199254740993"),
        ("b'abc'", "YWJj"),
        ("duration('90s')", "90s"),
        ("timestamp('2020-01-01T00:00:00Z')", "2020-01-01T00:00:00Z"),
        ("optional.of({'a': [dyn(1u), dyn(null), dyn(1.5)]})", {"a": [1, None, 1.5]}),
    ],
)
def test_values_become_json(text: str, json: Any) -> None:
    """Integers that doubles cannot represent, bytes and times become strings."""
    assert value_json(_evaluated(text)) == json


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("type(1)", "type conversion not supported for 'type'"),
        ("quantity('1Gi')", "type conversion error from 'Quantity' to '*structpb.Value'"),
        ("{1: 2}", "unsupported type conversion from 'int' to string"),
    ],
)
def test_values_without_json_fail(text: str, error: str) -> None:
    """The errors are cel-go's."""
    with pytest.raises(EvaluationFailed) as failed:
        value_json(_evaluated(text))
    assert str(failed.value) == error


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("null", ("structpb.NullValue", "NULL_VALUE", "0")),
        ("b'ab'", ("[]uint8", "[97 98]", "[]uint8{0x61, 0x62}")),
        (
            "timestamp('2020-01-02T03:04:05Z')",
            ("time.Time", "2020-01-02 03:04:05 +0000 UTC", "time.Date(2020, time.January, 2, 3, 4, 5, 0, time.UTC)"),
        ),
        ("duration('1s')", ("time.Duration", "1s", "1000000000")),
    ],
)
def test_go_shows_values_without_json(text: str, formats: tuple[str, str, str]) -> None:
    """Errors of apply configurations show such values in Go's syntax."""
    assert go_formats(_evaluated(text)) == formats
