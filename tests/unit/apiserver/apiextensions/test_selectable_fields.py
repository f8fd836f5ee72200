"""Selectable fields of definitions: paths, duplicates, and versions that share them or their schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.selectable_fields import validate_selectable_fields

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}}
TEXTS = {each: {"type": "string"} for each in "abcdefghi"}
SCHEMA = {"type": "object", "properties": {"metadata": NAMED, "n": {"type": "number"}, **TEXTS}}


def version(*paths: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a version with these selectable fields."""
    return {"schema": {"openAPIV3Schema": schema or SCHEMA}, "selectableFields": [{"jsonPath": path} for path in paths]}


def errors(versions: Sequence[dict[str, Any]], *shared: str) -> list[tuple[str, str]]:
    """Return the field and message of each error."""
    return [(each.field, each.message) for each in validate_selectable_fields([*versions], shared)]


@pytest.mark.parametrize(
    ("paths", "index", "message"),
    [
        ((".z",), 0, 'Invalid value: ".z": is an invalid path: does not refer to a valid field'),
        ((".a[0]",), 0, 'Invalid value: ".a[0]": is an invalid path: array notation is not allowed'),
        (("",), 0, "Required value"),
        ((".a", ".a"), 1, 'Duplicate value: ".a"'),
        ((".metadata.name",), 0, 'Invalid value: ".metadata.name": must not point to fields in metadata'),
    ],
)
def test_a_path_has_to_be_a_field_once(paths: tuple[str, ...], index: int, message: str) -> None:
    """A path names a field of the schema, and is named once."""
    found = errors([version(*paths)], "schema", "selectableFields")
    assert found == [(f"spec.selectableFields[{index}].jsonPath", message)]


def test_a_field_is_a_string_a_boolean_or_an_integer() -> None:
    """A number is not selectable, nor are more than eight fields."""
    [(_, message)] = errors([version(".n")], "schema", "selectableFields")
    assert "must point to a field of type string, boolean or integer" in message
    [found] = errors([version(*(f".{each}" for each in TEXTS))], "schema", "selectableFields")
    assert found == ("spec.selectableFields", "Too many: 9: must have at most 8 items")


def test_versions_share_the_schema_and_the_fields_or_neither() -> None:
    """Versions with one schema cannot have fields of their own, nor versions with the same fields several schemas."""
    own = 'Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included'
    assert errors([version(".a"), version()], "schema") == [("spec.versions[0].selectableFields", own)]
    found = errors([version(".a"), version(".a", schema={**SCHEMA, "description": "x"})], "selectableFields")
    assert found == [
        ("spec.selectableFields", 'Invalid value: "": may only be set when validations.schema is included')
    ]
    assert errors([version(".a"), version(schema={**SCHEMA, "description": "x"})]) == []
