"""The head of an HTTP/1.1 request: read as Go's net/http reads it, and refused in its words.

What kube-apiserver takes and what it refuses before any handler sees it was compared with one; see `MalformedHead`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from pyctrl._headers import Headers

HEAD_LIMIT = 1024 * 1024 + 4096  # bytes; net/http's DefaultMaxHeaderBytes, and the slack it adds

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(r"[^\x00-\x20\x7f]+")
_VERSION = re.compile(r"HTTP/([0-9])\.([0-9])")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class MalformedHead(Exception):
    """A head that cannot be served: the status line says why, and the connection closes."""

    def __init__(self, status: str, body: str | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = status if body is None else body


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """One request without its body."""

    method: str
    path: str  # as it was sent, escapes included
    query: str
    headers: Headers
    minor_version: int
    length: int  # of the body in bytes; 0 when it comes in chunks
    is_chunked: bool

    @property
    def keeps_alive(self) -> bool:
        """Whether the client wants to send another request afterwards."""
        wanted = {option.strip().lower() for option in self.headers.get("connection", "").split(",")}
        return "close" not in wanted if self.minor_version else "keep-alive" in wanted

    @property
    def expects_continue(self) -> bool:
        """Whether the client waits to be told to send its body."""
        return bool(self.minor_version and (self.length or self.is_chunked) and "expect" in self.headers)

    def parameters(self) -> list[tuple[str, str]]:
        """Give the query's parameters; those that do not parse are passed over, as in Go."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair and ";" not in pair)
        good = (pair for pair in pairs if not _BAD_ESCAPE.search(pair[0] + pair[1] + pair[2]))
        return [(unquote_plus(name), unquote_plus(value)) for name, _, value in good]


def parse_head(data: bytes) -> RequestHead:
    """Read a head, the empty line behind it not included.

    Raises:
        MalformedHead: it is none, or asks for what is not spoken here.
    """
    first, *lines = data.decode("latin-1").split("\r\n")
    method, target, minor = _request_line(first)
    headers = _headers(lines)
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
    if version is None or not _TOKEN.fullmatch(parts[0]):
        raise MalformedHead("400 Bad Request")
    if version[1] != "1":
        raise MalformedHead("505 HTTP Version Not Supported: unsupported protocol version")
    return parts[0], _origin(parts[1], parts[0]), min(int(version[2]), 1)


def _origin(target: str, method: str) -> str:
    """Give path and query of a target, which may also be a whole URL, as for a proxy."""
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


def _headers(lines: list[str]) -> Headers:
    pairs: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t") and pairs:  # folded, as nobody has sent for long
            name, value = pairs[-1]
            pairs[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip(" \t"):
            raise MalformedHead("400 Bad Request")
        if not _TOKEN.fullmatch(name):
            raise MalformedHead("400 Bad Request: invalid header name")
        if _CONTROL.search(value):
            raise MalformedHead("400 Bad Request: invalid header value")
        pairs.append((name, _decoded(value.strip(" \t"))))
    return Headers(pairs)


def _decoded(value: str) -> str:
    """Give a value as text: the bytes of names beyond ASCII are UTF-8, if they are."""
    if value.isascii():
        return value
    return value.encode("latin-1").decode("utf-8", "replace")


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
