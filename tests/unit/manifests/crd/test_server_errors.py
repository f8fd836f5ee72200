"""Errors of the server's rules for CRDs, found without a server."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from pyctrl.api import CustomResource, Model, PrinterColumn, ValidationRule
from pyctrl.errors import DefinitionError
from pyctrl.manifests import definition
from tests.unit.manifests._cases import Case, sample_kind


class Spec(Model):
    size: int = 1
    name: str = ""
    parts: list[str] = []


def kind_with(**keywords: Any) -> type[CustomResource[Any, Any]]:
    class Thing(CustomResource[Spec], group="a.pyctrl.test", version="v1", **keywords):
        pass

    return Thing


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"columns": (PrinterColumn("Size", ".spec.size", type="int"),)}, "must be one of boolean,date,integer"),
        ({"selectable_fields": (".spec.parts",)}, "must point to a field of type string, boolean or integer"),
        ({"marks": (ValidationRule("self.nope"),)}, "undefined field 'nope'"),
        ({"short_names": ("T",)}, r"spec.names.shortNames\[0\]: Invalid value"),
        ({"deprecated": "a" * 300}, "must be <= 256 characters long"),
    ],
)
def test_what_the_definition_says_around_the_schema_is_checked_as_the_server_does(
    keywords: dict[str, Any], message: str
) -> None:
    """Columns, names, rules and warnings that the server refuses raise an error with its message."""
    with pytest.raises(DefinitionError, match=message):
        definition(kind_with(**keywords))


def test_the_server_is_asked_about_the_schema() -> None:
    """A default that violates its schema raises an error with the server's message."""
    with pytest.raises(DefinitionError) as raised:
        definition(sample_kind([Case("x", Annotated[int, Field(ge=5)], {}, default=3)]))
    assert "properties[spec].properties[x].default: Invalid value: 3:  in body should be greater" in str(raised.value)
