"""Encoding of HTTP/1.1 responses, with the headers of kube-apiserver; large bodies are compressed."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus

from pyctrl._clock import now
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._http.head import RequestHead

__all__ = [
    "ENDED",
    "OWN_HEADERS",
    "continue_response",
    "encode_chunk",
    "encode_response",
    "encode_stream_head",
    "encode_upgrade_head",
    "error_response",
    "has_length",
    "is_compressible",
]

GZIP_FROM = 128 * 1024  # bytes; threshold and level are kube-apiserver's
GZIP_LEVEL = 1

OWN_HEADERS = (("Cache-Control", "no-cache, private"),)  # of every response of kube-apiserver but documents

ENDED = b"0\r\n\r\n"

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def continue_response() -> bytes:
    """Return the interim response that lets the client send its body."""
    return b"HTTP/1.1 100 Continue\r\n\r\n"


def error_response(status: str, body: str) -> bytes:
    """Encode the refusal of a malformed head."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    if not body:
        head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n"
    return f"{head}\r\n{body}".encode("latin-1")


def encode_response(head: RequestHead, response: Response, *, closing: bool) -> bytes:
    """Encode a response that is not a stream; for HEAD without its body."""
    assert isinstance(response.body, bytes)
    body, headers = response.body, list(response.headers)
    if is_compressible(head, response):
        body = gzip.compress(body, GZIP_LEVEL, mtime=0)
        headers += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    if not has_length(response):  # of HEAD, and of the response of another server
        headers.append(("Content-Length", str(len(body))))
    start = _head(head, response.status, headers, closing=closing)
    return start if head.method == "HEAD" else start + body


def is_compressible(head: RequestHead, response: Response) -> bool:
    """Return whether the body of a response is large enough to compress and the client accepts gzip."""
    assert isinstance(response.body, bytes)
    if len(response.body) <= GZIP_FROM or response.is_verbatim:
        return False
    return "gzip" in head.headers.get("accept-encoding", "")


def has_length(response: Response) -> bool:
    """Return whether the headers of a response have its length."""
    return any(name.lower() == "content-length" for name, _ in response.headers)


def encode_stream_head(head: RequestHead, response: Response, *, closing: bool) -> bytes:
    """Encode the head of a stream. It is chunked without a length; one of HTTP/1.0 ends with the connection."""
    if not head.minor_version:
        return _head(head, response.status, response.headers, closing=True)
    if has_length(response):
        return _head(head, response.status, response.headers, closing=closing)
    return _head(head, response.status, [*response.headers, ("Transfer-Encoding", "chunked")], closing=closing)


def encode_upgrade_head(head: RequestHead, response: Response) -> bytes:
    """Encode the head of a response after which the connection has another protocol."""
    return _head(head, response.status, response.headers, closing=False)


def encode_chunk(data: bytes) -> bytes:
    """Encode one chunk of a stream."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _head(head: RequestHead, status: int, headers: Sequence[tuple[str, str]], *, closing: bool) -> bytes:
    lines = [f"HTTP/1.{head.minor_version} {status} {_PHRASES.get(status, 'Unknown')}"]
    lines += [f"{name}: {_safe(value)}" for name, value in headers]
    lines.append(f"Date: {_date(int(now().timestamp()))}")
    if closing and head.minor_version:
        lines.append("Connection: close")
    elif not closing and not head.minor_version:
        lines.append("Connection: keep-alive")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def _safe(value: str) -> str:
    """Replace characters that would end the header: parts of the value may come from a client."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return now().strftime("%a, %d %b %Y %H:%M:%S GMT")
