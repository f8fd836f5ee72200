"""Validation of rules in definitions."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, definition, spec_schema

ROOT = "spec.validation.openAPIV3Schema"


def _refused(obj: dict[str, Any], registry: ResourceRegistry | None = None) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(registry or ResourceRegistry(), obj)
    assert refused.value.code == 422
    return complaints(refused.value)


def test_validation_rules_are_refused_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, a schema with rules is rejected with the package to install, named once."""
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)  # as without the package
    rule = {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}
    rules = {"x": rule, "y": rule}
    (told,) = _refused(definition(spec_schema(rules)))
    assert told.startswith(f"{ROOT}.properties[spec].properties[x].x-kubernetes-validations: Forbidden: ")
    assert "pip install 'pyctrl-runtime[cel]'" in told
