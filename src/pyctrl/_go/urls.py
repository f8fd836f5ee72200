"""URLs of requests: Go's `url.ParseRequestURI`, and its errors."""

from __future__ import annotations

import re

from pyctrl._go.text import quoted

__all__ = ["split_scheme", "url_error"]

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_BAD_HOST_ESCAPE = re.compile(r"%(?![89a-fA-F][0-9a-fA-F]).{0,2}")
_PORT = re.compile(r"(:\d*)?")


def url_error(text: str) -> str:
    """Return Go's error for an invalid URL; "" for a valid one."""
    why = _parse_error(text)
    return f"parse {quoted(text)}: {why}" if why else ""


def split_scheme(text: str) -> tuple[str, str]:
    """Return the scheme, empty without one, and the rest."""
    found = _SCHEME.match(text)
    if found is not None and text[found.end() : found.end() + 1] == ":":
        return found[0], text[found.end() + 1 :]
    return "", text


def _parse_error(text: str) -> str:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    scheme, rest = split_scheme(text)
    if not scheme and text.startswith(":"):
        return "missing protocol scheme"
    if not scheme and not text.startswith("/"):
        return "invalid URI for request"
    path = rest.partition("?")[0]
    if scheme and not path.startswith("/"):
        return ""
    host = path[2:].partition("/")[0] if path.startswith("//") else ""
    return _host_error(host.rpartition("@")[2]) or _escape_error(path)


def _host_error(host: str) -> str:
    if host.startswith("["):
        inner, bracket, port = host.rpartition("]")
        if not bracket:
            return "missing ']' in host"
    else:
        inner, colon, number = host.partition(":")
        port = colon + number
    if not _PORT.fullmatch(port):
        return f'invalid port "{port}" after host'
    bad = next((each for each in inner if each in " ^`{}|\\"), None)
    if bad is not None:
        return f"invalid character {quoted(bad)} in host name"
    found = _BAD_HOST_ESCAPE.search(inner)
    return f"invalid URL escape {quoted(found[0])}" if found else ""


def _escape_error(path: str) -> str:
    found = _BAD_ESCAPE.search(path)
    return f'invalid URL escape "{found[0]}"' if found else ""
