"""Root schemas of versions with the status subresource."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.root_schema import validate_root


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "description": "d", "properties": {"spec": {"nullable": True}}, "required": ["spec"]},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "nullable": False, "x-kubernetes-validations": [{"rule": "true"}]},
    ],
)
def test_allowed_fields(schema: dict[str, Any]) -> None:
    """The fields of kube-apiserver's list, and zero values of others, are valid at the root."""
    assert list(validate_root(schema, "p")) == []


@pytest.mark.parametrize("field", [{"nullable": True}, {"enum": [1]}, {"anyOf": [{}]}, {"maxProperties": 1}])
def test_other_fields_are_refused(field: dict[str, Any]) -> None:
    """The error lists the allowed fields."""
    (cause,) = validate_root({"type": "object", **field}, "p")
    assert cause.field == "p"
    assert "only [Description Type Format Title" in cause.message
    assert cause.message.endswith("fields are allowed at the root of the schema if the status subresource is enabled")
