"""Base64 decoding as in Go's `encoding/base64`: line breaks are skipped, unused trailing bits are ignored."""

from __future__ import annotations

import binascii

__all__ = ["CorruptBase64", "canonical_base64"]


_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_PAD = ord("=")
_BREAKS = b"\r\n"


class CorruptBase64(ValueError):
    """Raised for a text that is not base64.

    Args:
        offset: The byte at which Go reports the error.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def canonical_base64(text: str) -> str:
    """Return the canonical encoding, as Go writes it, of the bytes that `text` encodes.

    Raises:
        CorruptBase64: The text is not base64.
    """
    try:
        decoded = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # also for text that is not ASCII
        data = text.encode()
        _check(data)
        decoded = binascii.a2b_base64(data.translate(None, _BREAKS))
    if text.endswith("=") or "\n" in text or "\r" in text:
        return binascii.b2a_base64(decoded, newline=False).decode()
    return text


def _check(data: bytes) -> None:
    """Raise for the byte at which Go reports an error: it reads groups of four and skips line breaks."""
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
    """Check the text after the first padding character: `pads` more of them and line breaks only."""
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
