"""Kubernetes' functions of IP addresses and networks, as strict as Go's netip."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import ClassVar, TypeAlias

from ._errors import EvaluationFailed
from ._signatures import Table

_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network
_NO_DIGIT = "each colon-separated field must have at least one digit"
_LENGTH = re.compile(r"0|[1-9]\d*")


@dataclass(frozen=True, slots=True)
class IP:
    """An address."""

    TYPE: ClassVar[str] = "net.IP"
    address: _Address


@dataclass(frozen=True, slots=True)
class CIDR:
    """An address and how many of its bits say which network it is in."""

    TYPE: ClassVar[str] = "net.CIDR"
    address: _Address
    length: int

    @property
    def network(self) -> _Network:
        """The network."""
        return ip_network((self.address, self.length), strict=False)


def _why_no_address(text: str) -> str:
    """The complaint of netip.ParseAddr about a text that is no address."""
    for character in text:
        if character == ".":
            return _why_no_ipv4(text)
        if character == ":":
            return _why_no_ipv6(text)
        if character == "%":
            return "missing IPv6 address"
    return "unable to parse IP"


def _why_no_ipv4(text: str) -> str:
    value = digits = position = 0
    for index, character in enumerate(text):
        if character.isascii() and character.isdigit():
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                return f"IPv4 field must have at least one digit (at {_quoted(text[index:])})"
            if position == 3:
                return "IPv4 address too long"
            position, value, digits = position + 1, 0, 0
        else:
            return f"unexpected character (at {_quoted(text[index:])})"
    return "IPv4 address too short"


def _why_no_ipv6(text: str) -> str:
    bad = re.search(r"[^0-9a-fA-F:.%]", text)
    if bad is not None and "%" not in text[: bad.start()]:
        before = text[bad.start() - 1] if bad.start() else ""
        words = (
            "each colon-separated field must have at least one digit"
            if before == ":"
            else "unexpected character, want colon"
        )
        return f"{words} (at {_quoted(text[bad.start() :])})"
    if text.count("::") > 1:
        at = text.rfind("::") + 1
        return f"multiple :: in address (at {_quoted(text[at:])})"
    return "address string too short"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _address(text: str) -> _Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise EvaluationFailed(f"ParseAddr({_quoted(text)}): {_why_no_address(text)}") from error


def _ip(text: str) -> IP:
    lead = f'IP Address "{text}" parse error during conversion from string: '
    try:
        address = _address(text)
    except EvaluationFailed as failed:
        raise EvaluationFailed(lead + str(failed)) from failed
    if isinstance(address, IPv6Address) and address.scope_id:
        raise EvaluationFailed(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise EvaluationFailed(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return IP(address)


def _is_ip(text: str) -> bool:
    try:
        _ip(text)
    except EvaluationFailed:
        return False
    return True


_IN_CIDR = "network address parse error during conversion from string: "


def _cidr(text: str) -> CIDR:
    before, slash, after = text.rpartition("/")
    try:
        if not slash:
            raise EvaluationFailed(_IN_CIDR + f"netip.ParsePrefix({_quoted(text)}): no '/'")
        return _checked_cidr(text, before, after)
    except EvaluationFailed as failed:
        raise EvaluationFailed(_IN_CIDR + str(failed)) from failed


def _checked_cidr(text: str, before: str, after: str) -> CIDR:
    lead = f"{_IN_CIDR}netip.ParsePrefix({_quoted(text)}): "
    try:
        address = _address(before)
    except EvaluationFailed as failed:
        raise EvaluationFailed(lead + str(failed)) from failed
    if isinstance(address, IPv6Address) and address.scope_id:
        raise EvaluationFailed(lead + "IPv6 zones cannot be present in a prefix")
    if not _LENGTH.fullmatch(after):
        raise EvaluationFailed(lead + f"bad bits after slash: {_quoted(after)}")
    if int(after) > address.max_prefixlen:
        raise EvaluationFailed(lead + "prefix length out of range")
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise EvaluationFailed(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return CIDR(address, int(after))


def _is_cidr(text: str) -> bool:
    try:
        _cidr(text)
    except EvaluationFailed:
        return False
    return True


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return ip.address.version == cidr.address.version and ip.address in cidr.network


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return _contains_ip(cidr, IP(other.network.network_address)) and other.length >= cidr.length


def _is_global_unicast(ip: IP) -> bool:
    address = ip.address
    is_broadcast = address == IPv4Address("255.255.255.255")
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not is_broadcast and not special


def _is_link_local_multicast(ip: IP) -> bool:
    if ip.address.version == 4:
        return ip.address in ip_network("224.0.0.0/24")
    return ip.address.is_multicast and ip.address.packed[1] & 0x0F == 2


def _written(ip: IP) -> str:
    return str(ip.address)


ADDRESSES: Table = {
    "ip": [("(string) -> net.IP", _ip), ("net.CIDR.() -> net.IP", lambda cidr: IP(cidr.address))],
    "isIP": [("(string) -> bool", _is_ip)],
    "ip.isCanonical": [("(string) -> bool", lambda text: _written(_ip(text)) == text)],
    "family": [("net.IP.() -> int", lambda ip: ip.address.version)],
    "isUnspecified": [("net.IP.() -> bool", lambda ip: ip.address.is_unspecified)],
    "isLoopback": [("net.IP.() -> bool", lambda ip: ip.address.is_loopback)],
    "isLinkLocalMulticast": [("net.IP.() -> bool", _is_link_local_multicast)],
    "isLinkLocalUnicast": [("net.IP.() -> bool", lambda ip: ip.address.is_link_local)],
    "isGlobalUnicast": [("net.IP.() -> bool", _is_global_unicast)],
    "string": [
        ("(net.IP) -> string", _written),
        ("(net.CIDR) -> string", lambda cidr: f"{cidr.address}/{cidr.length}"),
    ],
    "cidr": [("(string) -> net.CIDR", _cidr)],
    "isCIDR": [("(string) -> bool", _is_cidr)],
    "containsIP": [
        ("net.CIDR.(string) -> bool", lambda cidr, text: _contains_ip(cidr, _ip(text))),
        ("net.CIDR.(net.IP) -> bool", _contains_ip),
    ],
    "containsCIDR": [
        ("net.CIDR.(string) -> bool", lambda cidr, text: _contains_cidr(cidr, _cidr(text))),
        ("net.CIDR.(net.CIDR) -> bool", _contains_cidr),
    ],
    "masked": [("net.CIDR.() -> net.CIDR", lambda cidr: CIDR(cidr.network.network_address, cidr.length))],
    "prefixLength": [("net.CIDR.() -> int", lambda cidr: cidr.length)],
}
