"""Schemas of each type, constraint and mark."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from pyctrl.manifests import definition
from tests.unit.manifests._cases import CASES, Case, sample_kind


@cache
def spec() -> dict[str, Any]:
    """Return the schema of a spec that has the fields of all cases."""
    schema = definition(sample_kind(CASES))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: dict[str, Any] = schema["properties"]["spec"]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_field_has_the_schema_of_its_type(case: Case) -> None:
    """Each type with its constraints has the schema that controller-gen generates for its Go form."""
    name = to_camel(case.name)
    assert spec()["properties"][name] == case.schema
    is_required = case.default is ... if case.is_required is None else case.is_required
    assert (name in spec()["required"]) is is_required
