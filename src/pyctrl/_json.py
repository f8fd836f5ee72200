"""JSON from the wire: one error for everything that cannot be decoded, and a scan that does not recurse.

msgspec and pydantic recurse. An object nested 1,000 levels deep, which kube-apiserver accepts (its limit is 10,000),
makes msgspec raise RecursionError on Python 3.11 and 3.12. The scan here splits such a document into its members, some
5 MB a second: it is for the documents that the decoders refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from pyctrl.errors import DecodeError

__all__ = ["UNREADABLE", "decode_json", "split_items", "split_members", "why_unreadable"]

#: What msgspec and pydantic raise for bytes that they cannot decode: msgspec.DecodeError, UnicodeDecodeError and
#: pydantic's ValidationError are ValueErrors.
UNREADABLE = (ValueError, RecursionError)

# Strings are one token, also one that never ends. The quantifiers are possessive: no byte is looked at twice.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_COLON = re.compile(rb"\s*:\s*")
_CLOSES = {0x7D: 0x7B, 0x5D: 0x5B}  # } closes {, and ] closes [
_QUOTE = 0x22
_PADDING = b" \t\r\n"


def decode_json(data: bytes | msgspec.Raw, type: Any = Any) -> Any:
    """Decode JSON, into a type that msgspec knows if one is given.

    Raises:
        DecodeError: it is not JSON, not UTF-8, nested too deep, or does not fit the type.
    """
    try:
        return msgspec.json.decode(data, type=type)
    except UNREADABLE as error:
        raise DecodeError(why_unreadable(error)) from error


def why_unreadable(error: Exception) -> str:
    """Say why JSON could not be decoded, as the end of a sentence."""
    if isinstance(error, RecursionError):
        return "it is nested deeper than this Python can decode, about 1,000 levels on Python 3.11"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8: {error.reason} at byte {error.start} of a string"
    return str(error)


def split_members(data: bytes, *, until: str = "") -> tuple[dict[str, bytes], bool]:
    """Split a JSON object into its members without recursion.

    Args:
        data: the object.
        until: the member after which nothing is wanted; what follows it is not looked at.

    Returns:
        The members with their JSON, and whether the object is whole. Of one that is cut off or has brackets that do
        not match, these are the members before the damage. The last of several members with one name counts.
    """
    members: dict[str, bytes] = {}
    if not data.lstrip(_PADDING).startswith(b"{"):
        return members, False
    name, start, end = "", 0, -1
    for token, level in _tokens(data):
        if level == 0:
            end = token.start()
        elif level == 1 and data[token.start()] == _QUOTE and (colon := _COLON.match(data, token.end())):
            if start:
                members[name] = data[start : token.start()].rstrip(_PADDING).removesuffix(b",").rstrip(_PADDING)
                if name == until:
                    return members, False
            name, start = _text(token[0]), colon.end()
    if end >= 0 and start:
        members[name] = data[start:end].rstrip(_PADDING)
    return members, end >= 0 and not data[end + 1 :].strip(_PADDING)


def split_items(data: bytes) -> tuple[list[bytes], bool]:
    """Split a JSON array of objects into its items without recursion.

    Returns:
        The items with their JSON, and whether the array is whole.
    """
    items: list[bytes] = []
    if not data.lstrip(_PADDING).startswith(b"["):
        return items, False
    start, is_open, end = 0, False, -1
    for token, level in _tokens(data):
        if level == 0:
            end = token.start()
        elif level == 1 and token[0] in b"}]":
            items.append(data[start : token.end()])
            is_open = False
        elif level == 2 and not is_open and token[0] in b"{[":
            start, is_open = token.start(), True
    return items, end >= 0


def _tokens(data: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """Iterate over the strings and brackets of the first two levels, with the level after each.

    Ends where the first bracket closes, or a bracket closes another one than was opened.
    """
    opened = bytearray()
    for token in _TOKEN.finditer(data):
        char = data[token.start()]
        if char == _QUOTE:
            pass
        elif (opener := _CLOSES.get(char)) is None:
            opened.append(char)
        elif not opened or opened.pop() != opener:
            return
        level = len(opened)
        if level > 2:
            continue
        yield token, level
        if not level:
            return


def _text(token: bytes) -> str:
    try:
        return str(msgspec.json.decode(token, type=str))
    except UNREADABLE:
        return token[1:-1].decode(errors="replace")
