"""JSON: decoding with one error class, equality, and a scanner that splits deeply nested documents without recursion.

msgspec and pydantic recurse. An object nested 1,000 levels deep, which kube-apiserver accepts (its limit is 10,000),
makes msgspec raise RecursionError on Python 3.11 and 3.12. The scanner splits such a document into its members, at
about 5 MB a second. It is only for documents that the decoders reject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pyctrl.errors import DecodeError

__all__ = ["UNREADABLE", "decode_json", "json_equal", "split_items", "split_members", "why_unreadable"]

#: The errors of msgspec and pydantic for bytes that they cannot decode: msgspec.DecodeError, UnicodeDecodeError and
#: pydantic's ValidationError are ValueErrors.
UNREADABLE = (ValueError, RecursionError)

# A string is one token, also without its closing quote. The quantifiers are possessive: no byte is read twice.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_COLON = re.compile(rb"\s*:\s*")
_CLOSES = {0x7D: 0x7B, 0x5D: 0x5B}  # } closes {, and ] closes [
_QUOTE = 0x22
_PADDING = b" \t\r\n"


def decode_json(data: bytes | msgspec.Raw, type: Any = Any) -> Any:
    """Decode JSON, optionally into a type that msgspec supports.

    Raises:
        DecodeError: the data is not JSON, not UTF-8, nested too deeply, or does not match the type.
    """
    try:
        return msgspec.json.decode(data, type=type)
    except UNREADABLE as error:
        raise DecodeError(why_unreadable(error)) from error


def why_unreadable(error: Exception) -> str:
    """Return the reason why JSON could not be decoded, as the end of a sentence."""
    if isinstance(error, RecursionError):
        return "it is nested deeper than this Python can decode, about 1,000 levels on Python 3.11"
    # msgspec raises UnicodeDecodeError before 0.23, and DecodeError with this text since.
    if isinstance(error, UnicodeDecodeError) or str(error).startswith("Invalid UTF-8"):
        return "it is not UTF-8"
    return str(error)


def json_equal(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal, by type as well: true is not 1, and 1 is not 1.0."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(json_equal(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return type(left) is type(right) and bool(left == right)


def split_members(data: bytes, *, until: str = "") -> tuple[dict[str, bytes], bool]:
    """Split a JSON object into its members without recursion.

    Args:
        data: the object.
        until: the last member that is needed; the data after it is not scanned.

    Returns:
        The members with their JSON, and whether the object is complete. If it is cut off or its brackets do not match,
        the members before the damage. Of several members with one name, the last one.
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
        The JSON of the items, and whether the array is complete.
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
    """Yield the strings and brackets of the first two levels, with the level after each.

    Ends where the first bracket is closed, or where brackets do not match.
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
