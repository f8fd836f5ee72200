"""Base64 as Go's `encoding/base64` decodes it: line breaks anywhere are skipped, unused bits of the end are ignored."""

from __future__ import annotations

import binascii

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_PAD = ord("=")
_BREAKS = b"\r\n"


class CorruptBase64(ValueError):
    """Raised for a text that is no base64.

    Args:
        offset: of the byte at which Go gives up.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def canonical_base64(text: str) -> str:
    """Return the text that encodes the same bytes in the one form that Go writes.

    Raises:
        CorruptBase64: The text is no base64.
    """
    try:
        decoded = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # what is not ASCII, too
        data = text.encode()
        _check(data)
        decoded = binascii.a2b_base64(data.translate(None, _BREAKS))
    if text.endswith("=") or "\n" in text or "\r" in text:
        return binascii.b2a_base64(decoded, newline=False).decode()
    return text


def _check(data: bytes) -> None:
    """Find the byte at which Go gives up, which counts in groups of four and does not count line breaks."""
    filled = 0  # characters of the current group of four
    for offset, byte in enumerate(data):
        if byte in _ALPHABET:
            filled = (filled + 1) % 4
        elif byte not in _BREAKS:
            if byte != _PAD or filled < 2:
                raise CorruptBase64(offset)
            _check_end(data, offset + 1, pads=3 - filled)
            return
    if filled:
        raise CorruptBase64(len(data) - filled)


def _check_end(data: bytes, offset: int, *, pads: int) -> None:
    """Check what follows the first padding: `pads` more, and nothing else but line breaks."""
    offset = _skip_breaks(data, offset)
    if pads:
        if offset == len(data):
            raise CorruptBase64(offset)
        if data[offset] != _PAD:
            raise CorruptBase64(offset - 1)
        offset = _skip_breaks(data, offset + 1)
    if offset < len(data):
        raise CorruptBase64(offset)


def _skip_breaks(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset] in _BREAKS:
        offset += 1
    return offset
