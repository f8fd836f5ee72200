"""Base64 in bodies, as Go decodes it."""

from __future__ import annotations

import pytest

from pyctrl._go.base64_decoding import CorruptBase64, canonical_base64


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("YWJj", "YWJj"),
        ("YWJj\nZGVm\n", "YWJjZGVm"),
        ("YW\r\nJj", "YWJj"),
        ("YQ=\n=\n", "YQ=="),
        ("\n", ""),
        ("", ""),
        ("YR==", "YQ=="),  # bits that no byte has
    ],
)
def test_line_breaks_are_skipped(text: str, canonical: str) -> None:
    """Line breaks are skipped, and the result is the form that Go writes."""
    assert canonical_base64(text) == canonical


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("YW Jj", 2),
        ("YQ", 0),
        ("YWJj\nZ", 5),
        ("YQ=", 3),
        ("YQ=A", 2),
        ("YQ==YQ==", 4),
        ("====", 0),
        ("YWé=", 2),
        ("-_-_", 0),
    ],
)
def test_the_place_of_a_mistake_is_told(text: str, offset: int) -> None:
    """The offset is that of Go's message, line breaks included."""
    with pytest.raises(CorruptBase64) as corrupt:
        canonical_base64(text)
    assert corrupt.value.offset == offset
