"""Heads of HTTP/1.1 requests, parsed as in Go's net/http and refused with its messages.

Which heads are accepted and refused was compared with a kube-apiserver; see `MalformedHead`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from pyctrl._headers import TOKEN, Headers, MalformedHeader, parse_headers
from pyctrl.apiserver._request.request import ParsedQuery

__all__ = ["HEAD_LIMIT", "MalformedHead", "RequestHead", "parse_head"]

HEAD_LIMIT = 1024 * 1024 + 4096  # bytes; net/http's DefaultMaxHeaderBytes with its slack

_TARGET = re.compile(r"[^\x00-\x20\x7f]+")
_VERSION = re.compile(r"HTTP/([0-9])\.([0-9])")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class MalformedHead(Exception):
    """A head that is refused with `status` as the status line. The connection closes afterwards."""

    def __init__(self, status: str, body: str | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = status if body is None else body


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """One request without its body."""

    method: str
    path: str  # as it was sent, with its escapes
    query: str
    headers: Headers
    minor_version: int
    length: int  # of the body in bytes; 0 when it is chunked
    is_chunked: bool

    @property
    def keeps_alive(self) -> bool:
        """Whether the client keeps the connection open for another request."""
        wanted = {option.strip().lower() for option in self.headers.get("connection", "").split(",")}
        return "close" not in wanted if self.minor_version else "keep-alive" in wanted

    @property
    def expects_continue(self) -> bool:
        """Whether the client waits for 100 Continue before it sends the body."""
        return bool(self.minor_version and (self.length or self.is_chunked) and "expect" in self.headers)

    def parameters(self) -> ParsedQuery:
        """Return the query parameters; those that do not parse are skipped, as in Go."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair and ";" not in pair)
        good = (pair for pair in pairs if not _BAD_ESCAPE.search(pair[0] + pair[1] + pair[2]))
        return ParsedQuery(self.query, ((unquote_plus(name), unquote_plus(value)) for name, _, value in good))


def parse_head(data: bytes) -> RequestHead:
    """Parse a head without its final empty line.

    Raises:
        MalformedHead: The head is malformed or requests something that is not supported.
    """
    first, *lines = data.decode("latin-1").split("\r\n")
    method, target, minor = _request_line(first)
    try:
        headers = parse_headers(lines)
    except MalformedHeader as error:
        raise MalformedHead(f"400 Bad Request: {error}".removesuffix(": ")) from None
    if minor and "host" not in headers:
        raise MalformedHead("400 Bad Request: missing required Host header")
    if len(headers.get_all("host")) > 1:
        raise MalformedHead("400 Bad Request")
    if headers.get("expect", "100-continue").lower() != "100-continue":
        raise MalformedHead("417 Expectation Failed", "")
    path, _, query = target.partition("?")
    is_chunked = minor > 0 and _is_chunked(headers)
    length = 0 if is_chunked else _length(headers)
    return RequestHead(
        method=method,
        path=path,
        query=query,
        headers=headers,
        minor_version=minor,
        length=length,
        is_chunked=is_chunked,
    )


def _request_line(line: str) -> tuple[str, str, int]:
    parts = line.split(" ")
    version = _VERSION.fullmatch(parts[2]) if len(parts) == 3 else None
    if version is None or not TOKEN.fullmatch(parts[0]):
        raise MalformedHead("400 Bad Request")
    if version[1] != "1":
        raise MalformedHead("505 HTTP Version Not Supported: unsupported protocol version")
    return parts[0], _origin(parts[1], parts[0]), min(int(version[2]), 1)


def _origin(target: str, method: str) -> str:
    """Return path and query of a target, which may be a whole URL as for a proxy."""
    lowered = target[:8].lower()
    if lowered.startswith(("http://", "https://")):
        _, _, rest = target.partition("://")
        slash, mark = rest.find("/"), rest.find("?")
        target = rest[slash:] if slash >= 0 and not 0 <= mark < slash else "/" + (rest[mark:] if mark >= 0 else "")
    is_asterisk = target == "*" and method == "OPTIONS"
    path = target.partition("?")[0]
    if not (target.startswith("/") or is_asterisk) or not _TARGET.fullmatch(target) or _BAD_ESCAPE.search(path):
        raise MalformedHead("400 Bad Request")
    return target


def _is_chunked(headers: Headers) -> bool:
    codings = headers.get_all("transfer-encoding")
    if not codings:
        return False
    if len(codings) > 1 or codings[0].lower() != "chunked":
        raise MalformedHead("501 Not Implemented", "Unsupported transfer encoding")
    return True


def _length(headers: Headers) -> int:
    lengths = set(headers.get_all("content-length"))
    length = next(iter(lengths), "0")
    if len(lengths) > 1 or not (length.isascii() and length.isdecimal() and len(length) < 19):  # 2**63 has 19 digits
        raise MalformedHead("400 Bad Request")
    return int(length)
