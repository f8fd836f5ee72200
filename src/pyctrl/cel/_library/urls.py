"""Kubernetes' URL library. Valid URLs are those of Go's `url.ParseRequestURI`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote, unquote, unquote_plus

from pyctrl._go.text import quoted
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._signatures import Table

__all__ = ["URLS", "url_error"]


_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_BAD_QUERY = re.compile(r";|%(?![0-9a-fA-F]{2})")
_BAD_HOST_ESCAPE = re.compile(r"%(?![89a-fA-F][0-9a-fA-F]).{0,2}")
_PORT = re.compile(r"(:\d*)?")


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL."""

    TYPE: ClassVar[str] = "kubernetes.URL"
    scheme: str
    user: str
    host: str
    path: str
    opaque: str
    query: tuple[tuple[str, str], ...] = field(default=())

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host = self.host
        if host.startswith("["):
            return host[1:].partition("]")[0]
        return host.rpartition(":")[0] if ":" in host else host

    @property
    def port(self) -> str:
        """The port, empty without one."""
        rest = self.host.rpartition("]")[2] if self.host.startswith("[") else self.host
        return rest.rpartition(":")[2] if ":" in rest else ""

    @property
    def escaped_path(self) -> str:
        """The path, with characters escaped that are not valid in one."""
        return quote(self.path, safe="/!$&'()*+,;=:@-._~[]%")


def _parse(text: str) -> URL:
    if why := url_error(text):
        raise EvaluationFailed(f"URL parse error during conversion from string: {why}")
    scheme, rest = _scheme(text)
    rest, _, query = rest.partition("?")
    if scheme and not rest.startswith("/"):
        return URL(scheme.lower(), "", "", "", rest, _query(query))
    user = host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, _, host = authority.rpartition("@")
        rest = slash + path
    return URL(scheme.lower(), user, unquote(host), rest, "", _query(query))


def _scheme(text: str) -> tuple[str, str]:
    found = _SCHEME.match(text)
    if found is not None and text[found.end() : found.end() + 1] == ":":
        return found[0], text[found.end() + 1 :]
    return "", text


def url_error(text: str) -> str:
    """Return Go's error for an invalid URL; "" for a valid one."""
    why = _parse_error(text)
    return f"parse {quoted(text)}: {why}" if why else ""


def _parse_error(text: str) -> str:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    scheme, rest = _scheme(text)
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


def _query(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [each.partition("=") for each in text.split("&") if each and not _BAD_QUERY.search(each)]
    return tuple((unquote_plus(key), unquote_plus(value)) for key, _, value in pairs)


def _is_url(text: str) -> bool:
    return not _parse_error(text)


def _grouped(url: URL) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in url.query:
        found.setdefault(key, []).append(value)
    return found


URLS: Table = {
    "url": [("(string) -> kubernetes.URL", _parse)],
    "isURL": [("(string) -> bool", _is_url)],
    "getScheme": [("kubernetes.URL.() -> string", lambda url: url.scheme)],
    "getHost": [("kubernetes.URL.() -> string", lambda url: url.host)],
    "getHostname": [("kubernetes.URL.() -> string", lambda url: url.hostname)],
    "getPort": [("kubernetes.URL.() -> string", lambda url: url.port)],
    "getEscapedPath": [("kubernetes.URL.() -> string", lambda url: url.escaped_path)],
    "getQuery": [("kubernetes.URL.() -> map(string, list(string))", _grouped)],
}
