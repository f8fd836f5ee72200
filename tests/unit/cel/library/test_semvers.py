"""Kubernetes' semver library."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "semver('1.2.3').isLessThan(semver('1.10.0'))": True,
    f"semver('1.0.0-{'9' * 4999}').isLessThan(semver('1.0.0-{'9' * 5000}'))": True,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
