"""Validation of custom resources: every constraint, in kube-apiserver's words."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._schema.schema import compile_structural
from pyctrl.apiserver._schema.validation import validate, validate_list_types


def _told(schema: dict[str, Any], value: Any) -> list[str]:
    node = compile_structural({"type": "object", "properties": {"f": schema}})
    return [f"{cause.field}: {cause.message}" for cause in validate(node, {"f": value})]


@pytest.mark.parametrize(
    ("schema", "value", "complaint"),
    [
        ({"type": "string"}, 5, 'f: Invalid value: "integer": f in body must be of type string: "integer"'),
        ({"type": "boolean"}, "x", 'f: Invalid value: "string": f in body must be of type boolean: "string"'),
        ({"type": "object"}, [], 'f: Invalid value: "array": f in body must be of type object: "array"'),
        ({"type": "string"}, None, 'f: Invalid value: "null": f in body must be of type string: "null"'),
        ({"type": "string", "minLength": 2}, "a", 'f: Invalid value: "a": f in body should be at least 2 chars long'),
        ({"type": "string", "maxLength": 2}, "abc", "f: Too long: may not be more than 2 bytes"),
        ({"type": "string", "pattern": "^a$"}, "b", "f: Invalid value: \"b\": f in body should match '^a$'"),
        ({"type": "string", "enum": ["A", "B"]}, "C", 'f: Unsupported value: "C": supported values: "A", "B"'),
        ({"type": "string", "format": "ipv4"}, "no", 'f: Invalid value: "no": f in body must be of type ipv4: "no"'),
        ({"type": "string", "format": "byte"}, "", 'f: Invalid value: "": f in body must be of type byte: ""'),
        (
            {"type": "number", "maximum": 2.5, "exclusiveMaximum": True},
            2,
            "f: Invalid value: 2: f in body should be less than 2",
        ),
        (
            {"type": "number", "multipleOf": 0.5},
            7,
            "f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0",
        ),
        ({"type": "integer", "minimum": 2}, 1, "f: Invalid value: 1: f in body should be greater than or equal to 2"),
        (
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            0,
            "f: Invalid value: 0: f in body should be greater than 0",
        ),
        (
            {"type": "integer", "maximum": 2.5},
            1,
            '<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in f',
        ),
        (
            {"type": "number", "format": "float"},
            1e39,
            '<nil>: Invalid value: "": Checked value must be of type number with format float in f',
        ),
        (
            {"type": "string", "nullable": True, "enum": ["a", None]},
            None,
            'f: Unsupported value: null: supported values: "a", "null"',
        ),
        ({"type": "integer", "maximum": 2}, 3, "f: Invalid value: 3: f in body should be less than or equal to 2"),
        ({"type": "integer", "multipleOf": 2}, 3, "f: Invalid value: 3: f in body should be a multiple of 2"),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            [],
            "f: Invalid value: 0: f in body should have at least 1 items",
        ),
        (
            {"type": "array", "items": {"type": "integer"}, "maxItems": 1},
            [1, 2],
            "f: Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "array", "items": {"type": "integer"}},
            [1, "x"],
            'f[1]: Invalid value: "string": f[1] in body must be of type integer: "string"',
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"a": 1},
            'f.a: Invalid value: "integer": f.a in body must be of type string: "integer"',
        ),
        (
            {"type": "object", "additionalProperties": False},
            {"a": 1},
            'f: Invalid value: "a": f.a in body is a forbidden property',
        ),
        ({"type": "object", "required": ["a"]}, {}, "f.a: Required value"),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            'f: Invalid value: "number": f in body must be of type integer,string: "number"',
        ),
        (
            {"type": "string", "not": {"enum": ["no"]}},
            "no",
            '<nil>: Invalid value: "": "f" must not validate the schema (not)',
        ),
    ],
)
def test_a_value_that_breaks_its_schema_is_told_in_the_servers_words(
    schema: dict[str, Any], value: Any, complaint: str
) -> None:
    """The error of each constraint has kube-apiserver's message and field."""
    assert _told(schema, value) == [complaint]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 1),
        ({"type": "integer"}, 2.0),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "80%"),
        ({"x-kubernetes-int-or-string": True}, 80),
        ({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z"),
        ({"type": "string", "format": "no-such-format"}, "anything"),
        ({"type": "string", "format": "date-time"}, []),
        ({"type": "number", "minimum": 0.5}, 0),
        ({"type": "number", "multipleOf": 0.5}, 7.5),
        ({"type": "number", "enum": [1, 2]}, 1.0),
    ],
)
def test_values_that_fit_are_accepted(schema: dict[str, Any], value: Any) -> None:
    """Whole numbers are valid for both number types, int-or-string accepts either, unknown formats accept any value.

    As in kube-apiserver 1.36, a format also accepts lists, and bounds are truncated for whole numbers.
    """
    assert _told(schema, value) == []


def test_an_int32_out_of_range_is_refused() -> None:
    """A number outside the range of its format is rejected."""
    told = _told({"type": "integer", "format": "int32"}, 3_000_000_000)
    assert told == ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f']


def test_an_integer_of_more_than_64_bits_is_a_number() -> None:
    """Go decodes such an integer as a float, which no integer type accepts; both the type and the range are told."""
    told = _told({"type": "integer"}, 1 << 63)
    assert told == [
        'f: Invalid value: "number": f in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
    ]
    assert _told({"x-kubernetes-int-or-string": True}, -(1 << 63) - 1) != []
    assert _told({"type": "integer"}, float(1 << 54)) != []
    assert _told({"type": "integer"}, (1 << 63) - 1) == []


def test_a_fraction_where_an_integer_belongs_is_told_with_its_format() -> None:
    """The type error of a schema with a number format has the format instead of the type."""
    told = _told({"type": "integer", "format": "int32"}, 1.5)
    assert told[0] == 'f: Invalid value: "float64": f in body must be of type int32: "float64"'


def test_one_of_wants_exactly_one_and_shows_the_best_failure() -> None:
    """No or two valid alternatives are errors; with none, the errors of the closest are added."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert _told(schema, {"a": "1"}) == []
    assert _told(schema, {}) == [
        '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid',
        "f.a: Required value",
    ]
    assert _told(schema, {"a": "1", "b": "2"}) == [
        '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'
    ]


def test_any_of_wants_at_least_one() -> None:
    """One valid alternative is enough; with none, the errors of the first are added."""
    schema = {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]}
    assert _told(schema, 0) == []
    assert _told(schema, 3)[0] == '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)'


def test_sets_and_maps_have_each_item_once() -> None:
    """Duplicate items of lists of type set and map are errors with their index."""
    keyed = {"type": "object", "properties": {"name": {"type": "string"}, "v": {"type": "integer"}}}
    node = compile_structural(
        {
            "type": "object",
            "properties": {
                "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "map": {
                    "type": "array",
                    "items": keyed,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
            },
        }
    )
    causes = validate_list_types(node, {"set": ["a", "a"], "map": [{"name": "x", "v": 1}, {"name": "x", "v": 2}]})
    assert [(cause.field, cause.message) for cause in causes] == [
        ("set[1]", 'Duplicate value: "a"'),
        ("map[1]", 'Duplicate value: {"name":"x"}'),
    ]


def test_the_second_of_equal_items_is_told() -> None:
    """Of three equal items the second is an error. Items without the key of a map are equal, others must be objects."""
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    items = {"items": {"type": "object", "properties": {"name": {"type": "string"}}}}
    node = compile_structural({"type": "object", "additionalProperties": {**keyed, **items}})
    same = {"name": "x"}
    for value, told in (
        ([same, same, same], ("of[1]", 'Duplicate value: {"name":"x"}')),
        ([{}, None], ("of[1]", "Duplicate value: {}")),
        ([same, ["x"]], ("of[1]", 'Invalid value: ["x"]: must be an object for an array of list-type map')),
    ):
        causes = validate_list_types(node, {"of": value})
        assert [(each.field.replace("[of]", "of"), each.message) for each in causes] == [told]
