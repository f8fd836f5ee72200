"""Kubernetes' IP and CIDR library."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "ip('10.0.0.1').family()": 4,
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')": True,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
