"""A server on the parser httptools, with the work of `protocols.py`. It writes responses itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus

import httptools
from _protocol_connection import Factory, TaskProtocol
from _protocol_work import BODY_LIMIT, HEAD_LIMIT, JSON_TYPE, answer

from pyctrl._headers import Headers

PHRASES = {status.value: status.phrase for status in HTTPStatus}
BEFORE = f"HTTP/1.1 %d %s\r\nContent-Type: {JSON_TYPE}\r\nDate: %s\r\n"


@dataclass
class Incoming:
    """A request as the parser reports it."""

    url: bytes = b""
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    keeps_alive: bool = True
    expects_continue: bool = False
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    refusal: int = 0  # the status of the error response


class HttptoolsConnection(TaskProtocol):
    """One connection."""

    def __init__(self) -> None:
        super().__init__()
        self._parser = httptools.HttpRequestParser(self)
        self._now = Incoming()
        self._ready: deque[Incoming] = deque()
        self._head_bytes = 0  # bytes of the current head; -1 in a body

    # -- what the parser reports --

    def on_message_begin(self) -> None:
        """Start a request."""
        self._now = Incoming()

    def on_url(self, url: bytes) -> None:
        """Add a part of the target."""
        self._now.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header."""
        self._now.headers.append((name.decode("latin-1"), value.decode("latin-1")))
        if name.lower() == b"expect" and value.lower() == b"100-continue":
            self._now.expects_continue = True

    def on_headers_complete(self) -> None:
        """Tell the client to send the body."""
        self._head_bytes = -1
        self._now.method = self._parser.get_method().decode()
        if self._now.expects_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """Add a part of the body."""
        self._now.size += len(body)
        if self._now.size > BODY_LIMIT:
            self._refuse(413)
        else:
            self._now.parts.append(body)

    def on_message_complete(self) -> None:
        """Pass the request to the task."""
        self._head_bytes = 0
        self._now.keeps_alive = self._parser.should_keep_alive()
        if not self._now.refusal:
            self._ready.append(self._now)

    # -- the connection --

    def received(self, data: bytes) -> None:
        """Parse received bytes."""
        if not data or self._now.refusal:
            return
        if self._head_bytes >= 0:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # ignore the upgrade, as kube-apiserver does
        except httptools.HttpParserError:
            self._refuse(400)
        if self._head_bytes > HEAD_LIMIT:
            self._refuse(431)

    def _refuse(self, status: int) -> None:
        self._now.refusal = status
        self._ready.append(self._now)

    async def run(self) -> None:
        """Serve one request after another."""
        while True:
            while not self._ready:
                if self.is_at_end:
                    return
                await self.more()
            if not await self._serve(self._ready.popleft()):
                return

    async def _serve(self, request: Incoming) -> bool:
        path = request.url.partition(b"?")[0].decode("latin-1")
        status, content = answer(request.method, path, Headers(request.headers), b"".join(request.parts))
        keeps_alive = request.keeps_alive
        if request.refusal:
            status, content, keeps_alive = request.refusal, b"", False
        begun = BEFORE % (status, PHRASES[status], formatdate(usegmt=True))
        if not keeps_alive:
            begun += "Connection: close\r\n"
        if isinstance(content, bytes):
            await self.write(f"{begun}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        else:
            await self.write(f"{begun}Transfer-Encoding: chunked\r\n\r\n".encode())
            async for part in content:
                await self.write(b"%x\r\n%b\r\n" % (len(part), part))
            await self.write(b"0\r\n\r\n")
        return keeps_alive


def protocols() -> Factory:
    """Return a factory of protocols for connections."""
    return HttptoolsConnection
