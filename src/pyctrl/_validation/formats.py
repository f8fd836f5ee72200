"""String formats that kube-apiserver validates; any other format is documentation only."""

from __future__ import annotations

import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from urllib.parse import urlsplit

from pyctrl._validation import names

__all__ = ["is_known_format", "is_of_format"]


_ALNUM = r"[^\W_]"  # go-openapi's hostnames: one label, or several with at least two letters in the last
_HOSTNAME = rf"{_ALNUM}(-?{_ALNUM}{{0,62}})?|({_ALNUM}(({_ALNUM}|-){{0,61}}{_ALNUM})?\.)+[^\W\d_]{{2,63}}"
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([zZ]|[+-]\d\d:?\d\d)")
_UUID = r"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{0}[0-9a-f]{{3}}-?{1}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
_DURATION = re.compile(
    r"[+-]?((\d++(?:\.\d*+)?|\.\d++)\s*+(ns|us|µs|μs|ms|s|m|h|d|w|hours?|minutes?|seconds?|days?|weeks?)\s*)+|0"
)


def is_of_format(name: str, text: str) -> bool:
    """Return whether a text matches a format; every text matches an unknown format."""
    check = _FORMATS.get(name.replace("-", ""))
    return check is None or check(text)


def is_known_format(name: str, kind: str) -> bool:
    """Return whether kube-apiserver supports a format for values of a type; it warns about unsupported ones."""
    if kind == "integer":
        return name in ("int32", "int64")
    if kind == "number":
        return name in ("float", "double", "int32", "int64")
    return name.replace("-", "") in _FORMATS


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    whole = re.compile(pattern, flags).fullmatch
    return lambda text: whole(text) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


def _base64(text: str) -> bytes:
    return binascii.a2b_base64(text, strict_mode=True)


def _is_date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    return found is not None and _is_date(found[1])


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/")


def _ipv4(text: str) -> object:
    return ipaddress.IPv4Address(text)


def _ipv6(text: str) -> object:
    if ":" not in text:
        raise ValueError(text)
    if "%" in text:  # a zone names an interface of one machine
        raise ValueError(text)
    return ipaddress.IPv6Address(text)


def _cidr(text: str) -> object:
    if "/" not in text:
        raise ValueError(text)
    return ipaddress.ip_network(text, strict=False)


def _is_name(rule: names.Rule) -> Callable[[str], bool]:
    return lambda text: not rule(text)


_is_base64 = _parses(_base64)
_is_date = _parses(date.fromisoformat)
_ANY_HEX = "[0-9a-f]"

_FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"[0-9a-fA-F]{24}"),
    "uri": _is_uri,
    "email": _matches(r"[^@\s<>]+@[^@\s<>]+"),
    "hostname": _matches(_HOSTNAME),
    "ipv4": _parses(_ipv4),
    "ipv6": _parses(_ipv6),
    "cidr": _parses(_cidr),
    "mac": _matches(
        r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{2}[:-]){7}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"
    ),
    "uuid": _matches(_UUID.format(_ANY_HEX, _ANY_HEX), re.IGNORECASE),
    "uuid3": _matches(_UUID.format("3", _ANY_HEX), re.IGNORECASE),
    "uuid4": _matches(_UUID.format("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matches(_UUID.format("5", "[89ab]"), re.IGNORECASE),
    "isbn": _matches(r"(97[89][- ]?)?(\d[- ]?){9}[\dX]"),
    "isbn10": _matches(r"(\d[- ]?){9}[\dX]"),
    "isbn13": _matches(r"97[89][- ]?(\d[- ]?){9}\d"),
    "creditcard": _matches(r"(\d[- ]?){12,18}\d"),
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(r"rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)"),
    "byte": lambda text: text != "" and _is_base64(text),
    "password": lambda _text: True,
    "date": _is_date,
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "datetime": _is_date_time,
    "k8sshortname": _is_name(names.label),
    "k8slongname": _is_name(names.subdomain),
}
