"""String formats that kube-apiserver validates; any other format is documentation only."""

from __future__ import annotations

import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date

from pyctrl._go.urls import url_error
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
    return not url_error(text)


def _is_ipv4(text: str) -> bool:
    """Return whether this is an IPv4 address, also one that is mapped to IPv6."""
    return "." in text and _is_address(text)


def _is_address(text: str) -> bool:
    if ":" in text:
        return _is_ipv6(text)
    return _is_dotted(_LEADING_ZEROS.sub("", text))


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not _BITS.fullmatch(bits):
        return False
    return _is_address(address) and int(bits) <= (128 if ":" in address else 32)


def _ipv6(text: str) -> object:
    if "%" in text:  # a zone names an interface of one machine
        raise ValueError(text)
    return ipaddress.IPv6Address(text)


def _is_isbn10(text: str) -> bool:
    code = _SPACES_AND_MINUS.sub("", text)
    if not _ISBN10.fullmatch(code):
        return False
    last = 10 if code[9] == "X" else int(code[9])
    return (sum(place * int(digit) for place, digit in enumerate(code[:9], 1)) + 10 * last) % 11 == 0


def _is_isbn13(text: str) -> bool:
    code = _SPACES_AND_MINUS.sub("", text)
    return bool(_ISBN13.fullmatch(code)) and sum(map(int, code[::2])) % 10 == -3 * sum(map(int, code[1::2])) % 10


def _is_credit_card(text: str) -> bool:
    """Return whether the digits are those of a known issuer, with the check digit of Luhn's algorithm."""
    code = _NO_DIGITS.sub("", text)
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in code[-2::-2]]
    return bool(_CARD.fullmatch(code)) and (sum(doubled) + sum(map(int, code[-1::-2]))) % 10 == 0


def _is_hostname(text: str) -> bool:
    return len(text.encode()) <= 255 and all(len(label.encode()) <= 63 for label in text.split(".")) and _is_host(text)


def _is_name(rule: names.Rule) -> Callable[[str], bool]:
    return lambda text: not rule(text)


_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_BITS = re.compile("[0-9]{1,3}")
_SPACES_AND_MINUS = re.compile(r"[\s-]+", re.ASCII)
_NO_DIGITS = re.compile("[^0-9]+")
_ISBN10 = re.compile("[0-9]{9}[0-9X]")
_ISBN13 = re.compile("[0-9]{13}")
_CARD = re.compile(
    "4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}"
    "|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
)
_BYTE = "([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_HEX_2, _HEX_4 = "[0-9A-Fa-f]{2}", "[0-9A-Fa-f]{4}"
# An address of a mailbox, with or without a name before it and a comment behind it, as `net/mail` reads it.
_ATOM_TEXT = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-"
_ATOM = f"[{_ATOM_TEXT}]+"
_QUOTED = r'"([^"\\\r\n]|\\[^\r\n])*"'
_MAILBOX = rf"({_ATOM}(\.{_ATOM})*|{_QUOTED})@({_ATOM}(\.{_ATOM})*|\[[0-9A-Fa-f:.]+\])"
_PHRASE = rf"([. \t{_ATOM_TEXT}]|{_QUOTED})*"  # one character at a time: a repeated group in another takes forever
_is_base64 = _parses(_base64)
_is_dotted = _parses(ipaddress.IPv4Address)
_is_ipv6 = _parses(_ipv6)
_is_host = _matches(_HOSTNAME)
_is_date = _parses(date.fromisoformat)
_ANY_HEX = "[0-9a-f]"

_FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"[0-9a-fA-F]{24}"),
    "uri": _is_uri,
    "email": _matches(rf"[ \t]*({_MAILBOX}|{_PHRASE}<{_MAILBOX}>)[ \t]*(\([^()]*\)[ \t]*)?"),
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": _matches(
        rf"{_HEX_2}(([:-]){_HEX_2})(\2{_HEX_2}){{4}}((\2{_HEX_2}){{2}}|(\2{_HEX_2}){{14}})?"
        rf"|{_HEX_4}(\.{_HEX_4}){{2}}((\.{_HEX_4})|(\.{_HEX_4}){{7}})?|({_HEX_2}){{6}}(({_HEX_2}){{2}}|({_HEX_2}){{14}})?"
    ),
    "uuid": _matches(_UUID.format(_ANY_HEX, _ANY_HEX), re.IGNORECASE),
    "uuid3": _matches(_UUID.format("3", _ANY_HEX), re.IGNORECASE),
    "uuid4": _matches(_UUID.format("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matches(_UUID.format("5", "[89ab]"), re.IGNORECASE),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _matches("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)", re.ASCII),
    "byte": lambda text: text != "" and _is_base64(text),
    "password": lambda _text: True,
    "date": _is_date,
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "datetime": _is_date_time,
    "k8sshortname": _is_name(names.label),
    "k8slongname": _is_name(names.subdomain),
}
