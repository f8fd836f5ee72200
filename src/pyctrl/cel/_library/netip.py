"""Parse errors of IP addresses, in the words of Go's `netip.ParseAddr`."""

from __future__ import annotations

import re

from pyctrl._go.text import quoted

__all__ = ["address_error"]


_HEX = re.compile("[0-9a-fA-F]*")


class _ParseAddrError(Exception):
    """A parse error and the rest of the text at its position."""

    def __init__(self, why: str, rest: str = "") -> None:
        super().__init__(f"{why} (at {quoted(rest)})" if rest else why)


def address_error(text: str) -> str:
    """Return the error of a text that is not an IP address."""
    first = re.search("[.:%]", text)
    try:
        if first is None:
            raise _ParseAddrError("unable to parse IP")
        if first[0] == "%":
            raise _ParseAddrError("missing IPv6 address")
        if first[0] == ".":
            _ipv4(text)
        else:
            _ipv6(text)
    except _ParseAddrError as wrong:
        return str(wrong)
    return "unable to parse IP"


def _ipv4(text: str) -> None:
    value = digits = position = 0
    for index, character in enumerate(text):
        if character.isascii() and character.isdigit():
            if digits == 1 and value == 0:
                raise _ParseAddrError("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                raise _ParseAddrError("IPv4 field has value >255")
        elif character == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                raise _ParseAddrError("IPv4 field must have at least one digit", text[index:])
            if position == 3:
                raise _ParseAddrError("IPv4 address too long")
            position, value, digits = position + 1, 0, 0
        else:
            raise _ParseAddrError("unexpected character", text[index:])
    if position < 3:
        raise _ParseAddrError("IPv4 address too short")


def _ipv6(text: str) -> None:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _ParseAddrError("zone must be a non-empty string")
    has_gap = rest.startswith("::")
    rest, fields = rest[2:] if has_gap else rest, 0
    while rest and fields < 8:
        size = _field(rest)
        if rest[size : size + 1] == ".":
            _embedded(rest, fields, has_gap=has_gap)
            return
        fields, rest = fields + 1, rest[size:]
        if rest:
            rest, is_gap = _after_colon(rest, has_gap=has_gap)
            has_gap = has_gap or is_gap
    if rest:
        raise _ParseAddrError("trailing garbage after address", rest)
    if fields < 8 and not has_gap:
        raise _ParseAddrError("address string too short")
    if fields == 8 and has_gap:
        raise _ParseAddrError("the :: must expand to at least one field of zeros")


def _field(rest: str) -> int:
    found = _HEX.match(rest)
    size = len(found[0]) if found else 0
    if size > 4:
        raise _ParseAddrError("each group must have 4 or less digits", rest)
    if not size:
        raise _ParseAddrError("each colon-separated field must have at least one digit", rest)
    return size


def _after_colon(rest: str, *, has_gap: bool) -> tuple[str, bool]:
    if not rest.startswith(":"):
        raise _ParseAddrError("unexpected character, want colon", rest)
    if len(rest) == 1:
        raise _ParseAddrError("colon must be followed by more characters", rest)
    if not rest.startswith("::"):
        return rest[1:], False
    if has_gap:
        raise _ParseAddrError("multiple :: in address", rest[1:])
    return rest[2:], True


def _embedded(rest: str, fields: int, *, has_gap: bool) -> None:
    if not has_gap and fields != 6:
        raise _ParseAddrError("embedded IPv4 address must replace the final 2 fields of the address", rest)
    if fields > 6:
        raise _ParseAddrError("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    _ipv4(rest)
