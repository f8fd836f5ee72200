"""Answers as bytes of HTTP/1.1: with the headers that kube-apiserver gives all of them, and compressed when large."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus

from pyctrl._clock import now
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._http.head import RequestHead

GZIP_FROM = 128 * 1024  # bytes; kube-apiserver's threshold, and below its level
GZIP_LEVEL = 1

OWN_HEADERS = (("Cache-Control", "no-cache, private"),)  # which kube-apiserver gives to every answer but documents

ENDED = b"0\r\n\r\n"

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def continue_response() -> bytes:
    """Tell the client to go on and send its body."""
    return b"HTTP/1.1 100 Continue\r\n\r\n"


def error_response(status: str, body: str) -> bytes:
    """Encode the refusal of a head, after which the connection closes."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    if not body:
        head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n"
    return f"{head}\r\n{body}".encode("latin-1")


def encode_response(head: RequestHead, answer: Response, *, closing: bool) -> bytes:
    """Encode an answer that is not a stream; of HEAD only what it would have been."""
    assert isinstance(answer.body, bytes)
    body, headers = answer.body, list(answer.headers)
    if is_compressible(head, body):
        body = gzip.compress(body, GZIP_LEVEL, mtime=0)
        headers += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    headers.append(("Content-Length", str(len(body))))
    begun = _head(head, answer.status, headers, closing=closing)
    return begun if head.method == "HEAD" else begun + body


def is_compressible(head: RequestHead, body: bytes) -> bool:
    """Whether an answer is so large that its client gets it compressed, if it can take that."""
    return len(body) > GZIP_FROM and "gzip" in head.headers.get("accept-encoding", "")


def encode_stream_head(head: RequestHead, answer: Response, *, closing: bool) -> bytes:
    """Encode the head of a stream; without chunks, for HTTP/1.0, its end is that of the connection."""
    if not head.minor_version:
        return _head(head, answer.status, answer.headers, closing=True)
    return _head(head, answer.status, [*answer.headers, ("Transfer-Encoding", "chunked")], closing=closing)


def encode_chunk(data: bytes) -> bytes:
    """Encode a chunk of a stream."""
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
    """Keep what came from a client from ending its header."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return now().strftime("%a, %d %b %Y %H:%M:%S GMT")
