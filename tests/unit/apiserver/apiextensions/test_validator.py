"""Validation of scale fields and embedded objects."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.validator import validate_embedded, validate_scale
from pyctrl.apiserver._schema.schema import compile_structural

SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}


@pytest.mark.parametrize(
    ("obj", "complaints"),
    [
        ({}, []),
        ({"spec": {"replicas": 0}, "status": {"replicas": 2**31 - 1, "selector": "a=b"}}, []),
        ({"spec": {"replicas": -1}}, [(".spec.replicas", "Invalid value: -1: should be a non-negative integer")]),
        (
            {"spec": {"replicas": 2**31}},
            [(".spec.replicas", "Invalid value: 2147483648: should be less than or equal to 2147483647")],
        ),
        (
            {"spec": {"replicas": "x"}},
            [
                (
                    ".spec.replicas",
                    "Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64",
                )
            ],
        ),
        (
            {"status": {"selector": 5}},
            [
                (
                    ".status.selector",
                    'Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
                )
            ],
        ),
    ],
)
def test_scale_fields(obj: dict[str, Any], complaints: list[tuple[str, str]]) -> None:
    """Replicas are numbers of int32, the selector is a string; absent fields are valid."""
    assert [(cause.field, cause.message) for cause in validate_scale(obj, SCALE)] == complaints


def test_embedded_objects_have_valid_type_and_metadata() -> None:
    """The errors of an embedded object have its path."""
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    node = compile_structural({"type": "object", "properties": {"t": {"type": "array", "items": embedded}}})
    good = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}}
    bad = {"apiVersion": "a/b/c", "kind": "", "metadata": {"labels": {"a b": "c"}}}
    causes = list(validate_embedded(node, {"t": [good, bad]}))
    assert [cause.field for cause in causes] == ["t[1].apiVersion", "t[1].kind", "t[1].metadata.labels"]
