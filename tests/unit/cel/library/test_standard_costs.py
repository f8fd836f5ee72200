"""Estimated costs of the standard operators and functions."""

from __future__ import annotations

import pytest

from pyctrl.cel import STRING
from pyctrl.cel._estimates import MAX, Size
from pyctrl.cel._library.costs import CallEstimate, Operand
from pyctrl.cel._library.standard_costs import standard_estimate

TEXT = Operand(STRING, None, Size(0, 99), None)
SHORT = Operand(STRING, None, Size(8, 8), None)
UNKNOWN = Operand(STRING, None, None, None)
TEST = "string.(string) -> bool"


@pytest.mark.parametrize(
    ("function", "signature", "target", "arguments", "estimate"),
    [
        ("startsWith", TEST, TEXT, (SHORT,), CallEstimate(1)),
        ("matches", TEST, TEXT, (SHORT,), CallEstimate(20)),
        ("matches", "(string, string) -> bool", None, (TEXT, SHORT), CallEstimate(1)),
        ("contains", TEST, TEXT, (TEXT,), CallEstimate(100)),
        ("@in", "(A, list(A)) -> bool", None, (SHORT, TEXT), CallEstimate(99)),
        ("_+_", "(string, string) -> string", None, (TEXT, SHORT), CallEstimate(11, Size(8, 107))),
        ("_+_", "(list(A), list(A)) -> list(A)", None, (TEXT, SHORT), CallEstimate(1, Size(8, 107))),
        ("_+_", "(int, int) -> int", None, (TEXT, SHORT), CallEstimate(1)),
        ("_==_", "(A, A) -> bool", None, (UNKNOWN, SHORT), CallEstimate(1)),
        ("bytes", "(string) -> bytes", None, (UNKNOWN,), CallEstimate(MAX // 10 + 1, Size(0, MAX - 3))),
        ("string", "(bytes) -> string", None, (SHORT,), CallEstimate(1, Size(2, 8))),
        ("strings.quote", "(string) -> string", None, (SHORT,), CallEstimate(1, Size(10, 18))),
    ],
)
def test_estimates(
    function: str, signature: str, target: Operand | None, arguments: tuple[Operand, ...], estimate: CallEstimate
) -> None:
    """Functions that read a whole text cost a tenth for each character, others 1."""
    found = standard_estimate(function, signature, target, arguments)
    assert found.size == estimate.size
    assert found.cost == pytest.approx(estimate.cost)
