"""String functions of cel-go and Kubernetes."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "'baaac'.findAll('a*')": ["", "aaa", ""],
    "'a-b.9'.matches('^[0-9a-zA-Z-.]+$')": True,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
