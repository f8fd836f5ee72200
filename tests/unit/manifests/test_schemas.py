"""Schemas of each type, constraint and mark."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from pyctrl import CustomResource, Model, ValidationRule
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


class Bounds(Model, marks=(ValidationRule("self.least <= self.most"),)):
    """Two numbers with a rule."""

    least: int = 0
    most: int = 9


class BoundedSpec(Model):
    """A spec with a rule in a part."""

    bounds: Bounds = Bounds(most=5)
    size: int = 1


class BoundedStatus(Model):
    """A status without fields."""


class Bounded(CustomResource[BoundedSpec, BoundedStatus], group="defaults.example.com", version="v1"):
    """A kind whose default has to fulfil a rule."""


def test_a_default_with_rules_has_the_defaults_inside() -> None:
    """The server evaluates rules on a default before it sets those of its fields."""
    schema = definition(Bounded)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["properties"]["bounds"]["default"] == {"least": 0, "most": 5}
    assert schema["default"] == {"bounds": {"least": 0, "most": 5}, "size": 1}
