"""PEM blocks in text, as Go finds them."""

from __future__ import annotations

import base64

import pytest

from pyctrl._go.pem import pem_blocks

BODY = base64.b64encode(b"content")
BLOCK = b"-----BEGIN A-----\n" + BODY + b"\n-----END A-----\n"


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (BLOCK, ["A"]),
        (b"text before\n" + BLOCK + b"between\n" + BLOCK.replace(b" A-", b" B-") + b"after", ["A", "B"]),
        (BLOCK.rstrip(), ["A"]),
        (BLOCK.replace(b"\n", b"\r\n"), ["A"]),
        (b"-----BEGIN A-----\n-----END A-----\n", ["A"]),
        (b" " + BLOCK, []),
        (BLOCK.replace(b"END A", b"END B"), []),
        (BLOCK.replace(BODY, b"?"), []),
        (b"-----BEGIN A-----\n", []),
        (b"", []),
    ],
)
def test_blocks_are_found_in_text(text: bytes, types: list[str]) -> None:
    """Text around blocks is ignored; damaged blocks are skipped."""
    assert [block.type for block in pem_blocks(text)] == types


def test_a_block_has_content_and_headers() -> None:
    """The content is decoded; headers are recognized and not part of it."""
    with_headers = BLOCK.replace(BODY, b"Key: value\n\n" + BODY)
    assert [(each.data, each.has_headers) for each in pem_blocks(BLOCK + with_headers)] == [
        (b"content", False),
        (b"content", True),
    ]
