"""Kubernetes' IP and CIDR library, as strict as Go's netip."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import ClassVar, TypeAlias

from pyctrl._go.text import quoted
from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._library.netip import address_error
from pyctrl.cel._signatures import Table

__all__ = ["ADDRESSES"]


_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network
_LENGTH = re.compile(r"0|[1-9]\d*")


@dataclass(frozen=True, slots=True)
class IP:
    """An IP address."""

    TYPE: ClassVar[str] = "net.IP"
    address: _Address


@dataclass(frozen=True, slots=True)
class CIDR:
    """An IP address and the length of its network prefix in bits."""

    TYPE: ClassVar[str] = "net.CIDR"
    address: _Address
    length: int

    @property
    def network(self) -> _Network:
        """The network of the address."""
        return ip_network((self.address, self.length), strict=False)


def _address(text: str) -> _Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise EvaluationFailed(f"ParseAddr({quoted(text)}): {address_error(text)}") from error


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
            raise EvaluationFailed(_IN_CIDR + f"netip.ParsePrefix({quoted(text)}): no '/'")
        return _checked_cidr(text, before, after)
    except EvaluationFailed as failed:
        raise EvaluationFailed(_IN_CIDR + str(failed)) from failed


def _checked_cidr(text: str, before: str, after: str) -> CIDR:
    lead = f"{_IN_CIDR}netip.ParsePrefix({quoted(text)}): "
    try:
        address = _address(before)
    except EvaluationFailed as failed:
        raise EvaluationFailed(lead + str(failed)) from failed
    if isinstance(address, IPv6Address) and address.scope_id:
        raise EvaluationFailed(lead + "IPv6 zones cannot be present in a prefix")
    if not _LENGTH.fullmatch(after):
        raise EvaluationFailed(lead + f"bad bits after slash: {quoted(after)}")
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


def _contains_text(cidr: CIDR, text: str) -> bool:
    if not _is_ip(text):
        raise EvaluationFailed(NO_OVERLOAD)
    return _contains_ip(cidr, _ip(text))


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
        ("net.CIDR.(string) -> bool", _contains_text),
        ("net.CIDR.(net.IP) -> bool", _contains_ip),
    ],
    "containsCIDR": [
        ("net.CIDR.(string) -> bool", lambda cidr, text: _contains_cidr(cidr, _cidr(text))),
        ("net.CIDR.(net.CIDR) -> bool", _contains_cidr),
    ],
    "masked": [("net.CIDR.() -> net.CIDR", lambda cidr: CIDR(cidr.network.network_address, cidr.length))],
    "prefixLength": [("net.CIDR.() -> int", lambda cidr: cidr.length)],
}
