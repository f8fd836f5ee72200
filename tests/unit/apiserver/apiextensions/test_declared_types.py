"""Types for msgspec: a value is of the type that a schema declares, and JSON has no other keys."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.declared_types import declared_type, json_reader, type_check
from pyctrl.apiserver._schema.schema import compile_structural

STRING = {"type": "string"}
INT_OR_STRING = {"x-kubernetes-int-or-string": True}
OBJECT = {"type": "object", "properties": {"a": STRING}}


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (STRING, ["", "a"], [None, 1, True, []]),
        ({**STRING, "nullable": True}, ["a", None], [1]),
        ({"type": "integer"}, [0, -1, 2**80], [1.0, True, "1", None]),
        ({"type": "number"}, [0, 0.5], [True, "1"]),
        ({"type": "boolean"}, [True], [1, "true"]),
        (INT_OR_STRING, [1, "1"], [1.0, True, None]),
        ({"type": "array", "items": STRING}, [[], ["a"]], [[1], {}, None]),
        ({"type": "object", "additionalProperties": STRING}, [{}, {"a": "b"}], [{"a": 1}, []]),
        (OBJECT, [{}, {"a": "b", "other": 1}], [{"a": 1}, {"a": None}, []]),
        ({"x-kubernetes-preserve-unknown-fields": True}, [None, 1, {"a": [1]}], []),
    ],
)
def test_values_are_of_the_declared_type(schema: dict[str, Any], right: list[Any], wrong: list[Any]) -> None:
    """Only values of the type that the schema declares are accepted, without conversions."""
    is_of_type = type_check(declared_type(compile_structural(schema)))
    assert [is_of_type(value) for value in right] == [True] * len(right)
    assert [is_of_type(value) for value in wrong] == [False] * len(wrong)


@pytest.mark.parametrize(
    "body", [b'{"a":"x","b":1}', b'{"a":"x","a":"y"}', b'{"a": "x"}', b'{"a":1}', b"{", b'{"a":"\\u0041"}']
)
def test_other_json_is_left_to_the_decoder_that_reports_errors(body: bytes) -> None:
    """Unknown and duplicate keys, spaces, escapes, other types and broken JSON are not read."""
    read = json_reader(declared_type(compile_structural(OBJECT), ignored=("kind",)))
    assert read(body) is None
    assert read(b'{"kind":[1],"a":"x"}') == {"kind": [1], "a": "x"}
