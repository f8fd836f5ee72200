"""Header blocks of SPDY/3."""

from __future__ import annotations

import zlib

import pytest

from pyctrl._spdy.headers import DICTIONARY, HeaderCompressor, HeaderDecompressor, InvalidHeaderBlock


def test_the_dictionary_is_that_of_the_specification() -> None:
    """Its length and checksum are those with which other implementations compress."""
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_blocks_depend_on_the_ones_before() -> None:
    """The second block of the same headers is shorter, and both are read again with names in lower case."""
    compressor, decompressor = HeaderCompressor(), HeaderDecompressor()
    headers = {"streamType": "stdout", "port": "8080"}
    first, second = compressor.encode(headers), compressor.encode(headers)
    assert len(second) < len(first)
    for block in (first, second):
        assert decompressor.decode(block) == {"streamtype": "stdout", "port": "8080"}


def encode(data: bytes) -> bytes:
    """Compress any bytes as a block."""
    compressor = zlib.compressobj(zdict=DICTIONARY)
    return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"no zlib", "cannot be decompressed"),
        (encode(b"\0" * 1_000_000), "too large"),
        (encode(b"\0\0\0\1\0\0\0\5abc"), "too short"),
        (encode(b"\0\0\0\1"), "too short"),
        (encode(b"\0\0\0\2" + b"\0\0\0\1a\0\0\0\0" * 2), "repeated"),
    ],
)
def test_damaged_blocks_are_refused(block: bytes, message: str) -> None:
    """What is no header block, or needs much memory, is an error."""
    with pytest.raises(InvalidHeaderBlock, match=message):
        HeaderDecompressor().decode(block)
