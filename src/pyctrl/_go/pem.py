"""PEM decoding as in Go's `encoding/pem`: blocks are found in any text, and damaged ones are skipped."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PEMBlock", "pem_blocks"]

_BEGIN = re.compile(rb"(?:^|(?<=\n))-----BEGIN ")
_END = b"\n-----END "
_DASHES = b"-----"


@dataclass(frozen=True, slots=True)
class PEMBlock:
    """One block: its type, such as `CERTIFICATE`, and its content."""

    type: str
    data: bytes
    has_headers: bool


def pem_blocks(data: bytes) -> Iterator[PEMBlock]:
    """Yield the blocks of a text in their order."""
    position = 0
    while begin := _BEGIN.search(data, position):
        position = begin.end()
        line, start = _line(data, position)
        if not line.endswith(_DASHES):
            continue
        found = _block(data, line.removesuffix(_DASHES), start)
        if found is not None:
            block, position = found
            yield block


def _block(data: bytes, kind: bytes, start: int) -> tuple[PEMBlock, int] | None:
    """Read the block whose content starts at `start`; return it and where the text continues."""
    content = _skip_headers(data, start)
    has_headers = content != start
    if not has_headers and data.startswith(_END[1:], start):
        end, trailer = start, start + len(_END) - 1
    else:
        end = data.find(_END, content)
        trailer = end + len(_END)
    if end < 0:
        return None
    line, after = _line(data, trailer)
    if line != kind + _DASHES:
        return None
    try:
        decoded = binascii.a2b_base64(data[content:end].translate(None, b" \t\r\n"), strict_mode=True)
    except ValueError:
        return None
    return PEMBlock(kind.decode("utf-8", "replace"), decoded, has_headers), after


def _skip_headers(data: bytes, start: int) -> int:
    while start < len(data):
        line, after = _line(data, start)
        if b":" not in line:
            break
        start = after
    return start


def _line(data: bytes, start: int) -> tuple[bytes, int]:
    """Return the line at `start` without trailing blanks, and the start of the next line."""
    end = data.find(b"\n", start)
    after = len(data) if end < 0 else end + 1
    return data[start:after].rstrip(b" \t\r\n"), after
