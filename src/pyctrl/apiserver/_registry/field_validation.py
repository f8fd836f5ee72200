"""Validation of fields that several built-in kinds have: ports, IP addresses, numbers, percentages."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping

from pyctrl._validation.names import Rule, subdomain
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "NEGATIVE",
    "NO_PERCENT",
    "address",
    "at_most_all",
    "descending_path",
    "domain_prefixed_path",
    "in_range",
    "int_or_percent",
    "int_or_percent_value",
    "invalid_name",
    "is_address",
    "is_network",
    "local_path",
    "network",
    "no_backsteps",
    "non_special_ip",
    "not_negative",
    "one_of",
    "port",
    "port_name_errors",
    "port_number",
    "required_name",
    "required_texts",
    "strict_address_errors",
    "strict_network_errors",
    "text_of",
    "without_leading_zeros",
]

_HTTP_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_PERCENT = re.compile("[0-9]+%")
_NO_PORT = "must be between 1 and 65535, inclusive"
NEGATIVE = "must be greater than or equal to 0"
_LEADING_ZEROS = "must not have leading 0s"
_NO_NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def port_number(value: JSON, path: str) -> Iterator[FieldError]:
    """Check a port number."""
    if not 1 <= value <= 65535:
        yield invalid_value(path, value, _NO_PORT)


def port_name_errors(text: str) -> list[str]:
    """Return the errors of a port name (an IANA service name)."""
    found = ["must be no more than 15 characters"] if len(text) > 15 else []
    if not re.fullmatch("[-a-z0-9]+", text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def port(value: JSON, path: str) -> Iterator[FieldError]:
    """Check a port number or a port name."""
    if isinstance(value, str):
        yield from (invalid_value(path, value, why) for why in port_name_errors(value))
    else:
        yield from port_number(value or 0, path)


def one_of(value: JSON, allowed: Iterable[str], path: str) -> Iterator[FieldError]:
    """Check a required value that is one of a few."""
    if not value:
        yield required(path)
    elif value not in allowed:
        yield not_supported(path, value, allowed)


def not_negative(spec: Mapping[str, JSON], path: str, *keys: str) -> Iterator[FieldError]:
    """Check that integer fields, where set, are at least 0."""
    for key in keys:
        if isinstance(spec.get(key), int) and spec[key] < 0:
            yield invalid_value(f"{path}.{key}" if path else key, spec[key], NEGATIVE)


def address(text: str, path: str) -> Iterator[FieldError]:
    """Check an IP address, which need not be in its canonical form."""
    yield from (invalid_value(path, text, why) for why in _address_errors(text))


def strict_address_errors(text: str) -> list[str]:
    """Return why a text is not an IP address in its canonical form."""
    if errors := _address_errors(text):
        return errors
    found = ipaddress.ip_address(text)
    return [] if str(found) == text else [f'must be in canonical form ("{found}")']


def _address_errors(text: str) -> list[str]:
    plain = without_leading_zeros(text)
    if not is_address(plain):
        return [_NO_ADDRESS]
    if plain != text:
        return [_LEADING_ZEROS]
    found = ipaddress.ip_address(text)
    is_mapped = isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped
    return ["must not be an IPv4-mapped IPv6 address"] if is_mapped else []


def strict_network_errors(text: str) -> list[str]:
    """Return why a text is not a CIDR in its canonical form."""
    if errors := _network_errors(text):
        return errors
    found = ipaddress.ip_interface(text)
    return [] if str(found.network) == text else [f'must be in canonical form ("{found.network}")']


def _network_errors(text: str) -> list[str]:
    plain = without_leading_zeros(text)
    if not is_network(plain):
        return [_NO_NETWORK]
    if plain != text:
        return [f"{_LEADING_ZEROS} in IP or prefix length"]
    found = ipaddress.ip_interface(text)
    if isinstance(found, ipaddress.IPv6Interface) and found.ip.ipv4_mapped:
        return ["must not have an IPv4-mapped IPv6 address"]
    if found.ip != found.network.network_address:
        return ["must not have bits set beyond the prefix length"]
    return []


def without_leading_zeros(text: str) -> str:
    """Return an address or CIDR without the leading zeros that Go refuses, but can read."""
    place = "/" if ":" in text else "^|[./]"
    return re.sub(f"({place})0+(?=[0-9])", r"\1", text)


def is_address(text: str) -> bool:
    """Return whether a text is an IP address, without a zone."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def network(text: str, path: str) -> Iterator[FieldError]:
    """Check a CIDR, which need not be in its canonical form."""
    yield from (invalid_value(path, text, why) for why in _network_errors(text))


def is_network(text: str) -> bool:
    """Return whether a text is a CIDR."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def non_special_ip(text: str, path: str) -> Iterator[FieldError]:
    """Check an IP address that other hosts can reach."""
    if not is_address(text):
        yield invalid_value(path, text, _NO_ADDRESS)
        return
    found = ipaddress.ip_address(text)
    for is_it, why in (
        (found.is_unspecified, f"may not be unspecified ({found})"),
        (found.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (found.is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (found.is_multicast and found in _LINK_LOCAL_MULTICAST, _NO_MULTICAST),
    ):
        if is_it:
            yield invalid_value(path, text, why)


_LINK_LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")
_NO_MULTICAST = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)


def text_of(values: Mapping[str, JSON], key: str) -> str:
    """Return a string field, or an empty string if it is not set."""
    found: str = values.get(key) or ""
    return found


def invalid_name(rule: Rule, text: str, path: str) -> Iterator[FieldError]:
    """Check a name by a rule."""
    yield from (invalid_value(path, text, why) for why in rule(text))


def required_name(rule: Rule, text: str, path: str) -> Iterator[FieldError]:
    """Check a name that must be set."""
    if text:
        yield from invalid_name(rule, text, path)
    else:
        yield required(path)


def required_texts(values: Mapping[str, JSON], path: str, *keys: str) -> Iterator[FieldError]:
    """Check that string fields or lists are set and not empty."""
    yield from (required(f"{path}.{key}") for key in keys if not values.get(key))


def in_range(value: int, low: int, high: int, path: str) -> Iterator[FieldError]:
    """Check a number between two bounds."""
    if not low <= value <= high:
        yield invalid_value(path, value, f"must be between {low} and {high}, inclusive")


def no_backsteps(text: str, path: str) -> Iterator[FieldError]:
    """Check that a file path has no `..` part."""
    if ".." in text.split("/"):
        yield invalid_value(path, text, "must not contain '..'")


def descending_path(text: str, path: str) -> Iterator[FieldError]:
    """Check a relative file path without `..`."""
    if text.startswith("/"):
        yield invalid_value(path, text, "must be a relative path")
    yield from no_backsteps(text, path)


def local_path(text: str, path: str) -> Iterator[FieldError]:
    """Check the relative path of a file that a volume creates; names that begin with `..` are reserved."""
    yield from descending_path(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid_value(path, text, "must not start with '..'")


def int_or_percent(value: JSON, path: str) -> Iterator[FieldError]:
    """Check a number that is not negative, or a percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            yield invalid_value(path, value, NO_PERCENT)
    elif value < 0:
        yield invalid_value(path, value, NEGATIVE)


def int_or_percent_value(value: JSON) -> int:
    """Return a number, or the number of a percentage."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%") if _PERCENT.fullmatch(value) else value
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def at_most_all(value: JSON, path: str) -> Iterator[FieldError]:
    """Check that a percentage is at most 100."""
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) > 100:
        yield invalid_value(path, value, "must not be greater than 100%")


def domain_prefixed_path(text: str, path: str) -> Iterator[FieldError]:
    """Check a path below a domain, such as `example.com/controller`."""
    domain, slash, rest = text.partition("/")
    if not text:
        yield required(path)
    elif not (domain and slash and rest):
        yield invalid_value(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from invalid_name(subdomain, domain, path)
        if not _HTTP_PATH.fullmatch(rest):
            yield invalid_value(path, rest, f"Invalid path (regex used for validation is '{_HTTP_PATH.pattern}')")
