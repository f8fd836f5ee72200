"""Kubernetes' URL library. Valid URLs are those of Go's `url.ParseRequestURI`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote, unquote, unquote_plus

from pyctrl._go.urls import split_scheme, url_error
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._signatures import Table

__all__ = ["URLS"]


_BAD_QUERY = re.compile(r";|%(?![0-9a-fA-F]{2})")


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
    scheme, rest = split_scheme(text)
    rest, _, query = rest.partition("?")
    if scheme and not rest.startswith("/"):
        return URL(scheme.lower(), "", "", "", rest, _query(query))
    user = host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, _, host = authority.rpartition("@")
        rest = slash + path
    return URL(scheme.lower(), user, unquote(host), rest, "", _query(query))


def _query(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [each.partition("=") for each in text.split("&") if each and not _BAD_QUERY.search(each)]
    return tuple((unquote_plus(key), unquote_plus(value)) for key, _, value in pairs)


def _is_url(text: str) -> bool:
    return not url_error(text)


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
