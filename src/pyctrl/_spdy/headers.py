"""Header blocks of SPDY/3: pairs of names and values, compressed with a dictionary over the whole connection."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

__all__ = ["DICTIONARY", "HeaderCompressor", "HeaderDecompressor", "InvalidHeaderBlock"]

BLOCK_LIMIT = 64 * 1024  # bytes of a decompressed block; those of Kubernetes have fewer than 200

# The dictionary of SPDY/3, draft 3.1, section 2.6.10.1: words with their lengths, then plain text.
_WORDS = """options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age
allow authorization cache-control connection content-base content-encoding content-language content-length
content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since
if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate
proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning
www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin"""
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = b"".join(
    len(word).to_bytes(4, "big") + word.replace("_", " ").encode() for word in _WORDS.split()
) + _TEXT.encode("ascii")


class InvalidHeaderBlock(Exception):
    """A header block cannot be decompressed or read."""


class HeaderCompressor:
    """Encodes the header blocks of one direction of a connection."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(level=9, zdict=DICTIONARY)

    def encode(self, headers: Mapping[str, str]) -> bytes:
        """Return the block of headers; names are sent in lower case."""
        parts = [len(headers).to_bytes(4, "big")]
        for name, value in headers.items():
            for text in (name.lower(), value):
                data = text.encode()
                parts += (len(data).to_bytes(4, "big"), data)
        return self._compressor.compress(b"".join(parts)) + self._compressor.flush(zlib.Z_SYNC_FLUSH)


class HeaderDecompressor:
    """Decodes the header blocks of one direction of a connection."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(zdict=DICTIONARY)

    def decode(self, block: bytes) -> dict[str, str]:
        """Return the headers of a block, with names in lower case.

        Raises:
            InvalidHeaderBlock: The block is damaged or too large.
        """
        try:
            data = self._decompressor.decompress(block, BLOCK_LIMIT)
        except zlib.error as error:
            raise InvalidHeaderBlock(f"the header block cannot be decompressed: {error}") from error
        if self._decompressor.unconsumed_tail:
            raise InvalidHeaderBlock("the header block is too large")
        return _pairs(data)


def _pairs(data: bytes) -> dict[str, str]:
    count, at = int.from_bytes(data[:4], "big"), 4
    headers: dict[str, str] = {}
    for _ in range(count):
        name, at = _text(data, at)
        value, at = _text(data, at)
        if name.lower() in headers:
            raise InvalidHeaderBlock(f"the header {name} is repeated")
        headers[name.lower()] = value
    return headers


def _text(data: bytes, at: int) -> tuple[str, int]:
    start = at + 4
    end = start + int.from_bytes(data[at:start], "big")
    if start > len(data) or end > len(data):
        raise InvalidHeaderBlock("the header block is too short")
    return data[start:end].decode("utf-8", "replace"), end
