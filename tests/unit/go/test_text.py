"""Values formatted as by Go."""

from __future__ import annotations

import pytest

from pyctrl._go.text import go_text, quoted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1000.0, "1000"),
        (1e6, "1e+06"),
        (123456.5, "123456.5"),
        (1e21, "1e+21"),
        (0.0001, "0.0001"),
        (1e-7, "1e-07"),
        (0.0, "0"),
        (-2.5e30, "-2.5e+30"),
        ([True, None, {"a": 1.5}], "[true <nil> map[a:1.5]]"),
    ],
)
def test_values_in_messages(value: object, text: str) -> None:
    """A number in a message has the digits and the exponent that Go prints."""
    assert go_text(value) == text


def test_control_characters_in_quotes() -> None:
    """A control character in a message has Go's letter, or its number."""
    assert quoted('a\x07\x0b\x01\n"') == r'"a\a\v\x01\n\""'
