"""Unusual and invalid requests, sent byte by byte, and the responses of a server."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from time import monotonic
from urllib.parse import urlsplit

PATIENCE = 1.0  # seconds without a byte, after which a response counts as complete
REVIEW = json.dumps(
    {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    }
).encode()
POST_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
CHUNKED = b"5\r\n" + REVIEW[:5] + b"\r\n" + b"%x\r\n" % len(REVIEW[5:]) + REVIEW[5:] + b"\r\n0\r\n\r\n"
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})[^\r\n]*\r\n")


@dataclass(frozen=True)
class Probed:
    """A listening server: ours, or a real kube-apiserver.

    Attributes:
        url: its address.
        token: of a user with all permissions; "" for a server without authentication.
    """

    url: str
    token: str = ""

    def outcome(self, *parts: bytes) -> str:
        """Send each part after the response to the one before; return the statuses, and whether the server closed."""
        with closing(self._connected()) as connection:
            answer, is_closed = b"", False
            for part in parts:
                with suppress(OSError):
                    connection.sendall(part)
                received, is_closed = _received(connection)
                answer += received
        statuses = " ".join(each.decode() for each in STATUS_LINE.findall(answer)) or "-"
        return f"{statuses}, closed" if is_closed else statuses

    def _connected(self) -> socket.socket:
        where = urlsplit(self.url)
        plain = socket.create_connection((where.hostname or "", where.port or 0), timeout=PATIENCE)
        if where.scheme == "http":
            return plain
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(plain)

    def request(self, first: str, *headers: str, body: bytes = b"", host: str = "Host: localhost") -> bytes:
        """Return the bytes of a request."""
        token = [f"Authorization: Bearer {self.token}"] if self.token else []
        kind = ["Content-Type: application/json"] if first.startswith("POST") else []
        lines = [first, *([host] if host else []), *token, *kind, *headers]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _received(connection: socket.socket) -> tuple[bytes, bool]:
    """Return the received bytes, and whether the server then closed the connection."""
    answer, end = b"", monotonic() + 5 * PATIENCE
    while monotonic() < end:
        try:
            piece = connection.recv(65536)
        except TimeoutError:
            return answer, False
        except OSError:
            return answer, True
        if not piece:
            return answer, True
        answer += piece
    return answer, False


def probes(server: Probed) -> Iterator[tuple[str, tuple[bytes, ...]]]:
    """Yield the name and the parts of each probe."""
    get, post = "GET /version HTTP/1.1", f"POST {POST_PATH} HTTP/1.1"
    request, length = server.request, f"Content-Length: {len(REVIEW)}"
    yield "a chunked request", (request(post, "Transfer-Encoding: chunked", body=CHUNKED),)
    yield "Expect: 100-continue", (request(post, length, "Expect: 100-continue"), REVIEW)
    yield "Expect: something else", (request(get, "Expect: wonders"),)
    yield "three requests in one packet", (request(get) * 2 + request(post, length, body=REVIEW),)
    yield "Upgrade: websocket", (request(get, "Connection: Upgrade", "Upgrade: websocket"), request(get))
    yield "Upgrade: h2c", (request(get, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: "),)
    yield "a head of 900 KB", (request(get, f"X-Large: {'x' * 900_000}"),)
    yield "a head of 1.1 MB", (request(get, f"X-Large: {'x' * 1_100_000}"),)
    yield "a head of 1.1 MB that does not end", (request(get, f"X-Large: {'x' * 1_100_000}")[:-4],)
    yield "200 headers", (request(get, *(f"X-{n}: {n}" for n in range(200))),)
    yield "no Host", (request(get, host=""),)
    yield "two Hosts", (request(get, "Host: other"),)
    yield "a bad header name", (request(get, "bad name: 1"),)
    yield "a space before the colon", (request(get, "Name : 1"),)
    yield "a control character in a value", (request(get, "Name: a\x01b"),)
    yield "a folded header", (request(get, "Name: a", " b"),)
    yield "a header in UTF-8", (request(get, "Name: \xc3\xa4"),)
    yield "an unknown method", (request("FOO /version HTTP/1.1"),)
    yield "HTTP/1.0", (request("GET /version HTTP/1.0"),)
    yield "HTTP/2.0", (request("GET /version HTTP/2.0"),)
    yield "a whole URL as target", (request("GET http://localhost/version HTTP/1.1"),)
    yield "a space in the target", (request("GET /ver sion HTTP/1.1"),)
    yield "a bad escape in the target", (request("GET /%zz HTTP/1.1"),)
    yield "two lengths that differ", (request(post, length, "Content-Length: 1", body=REVIEW),)
    yield "a negative length", (request(post, "Content-Length: -1", body=REVIEW),)
    yield "length and chunks", (request(post, length, "Transfer-Encoding: chunked", body=CHUNKED),)
    yield "another transfer coding", (request(post, "Transfer-Encoding: gzip", body=REVIEW),)
    yield "what are no chunks", (request(post, "Transfer-Encoding: chunked", body=b"no chunks\r\n\r\n"),)
    yield "a body over the limit", (request(post, "Content-Length: 9000000", body=b" " * 100_000),)
    yield "no HTTP", (b"hello\r\n\r\n",)
    yield "lines that end with \\n", (request(get).replace(b"\r\n", b"\n"),)
