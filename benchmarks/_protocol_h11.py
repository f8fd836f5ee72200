"""A server on h11's HTTP/1.1 code, with the work of `protocols.py`."""

from __future__ import annotations

from email.utils import formatdate

import h11
from _protocol_connection import Factory, TaskProtocol
from _protocol_work import BODY_LIMIT, HEAD_LIMIT, JSON_TYPE, answer

from pyctrl._headers import Headers


class H11Connection(TaskProtocol):
    """One connection."""

    def __init__(self) -> None:
        super().__init__()
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)

    def received(self, data: bytes) -> None:
        """Pass received bytes to h11."""
        self._http.receive_data(data)

    async def run(self) -> None:
        """Serve one request after another."""
        try:
            while await self._serve_one():
                self._http.start_next_cycle()
        except h11.RemoteProtocolError as error:
            if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                await self._respond(error.error_status_hint, str(error).encode(), [("Connection", "close")])

    async def _serve_one(self) -> bool:
        request = await self._event()
        if not isinstance(request, h11.Request):
            return False
        parts: list[bytes] = []
        size = 0
        while isinstance(event := await self._event(), h11.Data):
            parts.append(bytes(event.data))
            size += len(event.data)
            if size > BODY_LIMIT:
                await self._respond(413, b"", [("Connection", "close")])
                return False
        path = request.target.partition(b"?")[0].decode("latin-1")
        headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers)
        status, content = answer(request.method.decode(), path, headers, b"".join(parts))
        if isinstance(content, bytes):
            await self._respond(status, content)
        else:
            await self._send(h11.Response(status_code=status, headers=[("Content-Type", JSON_TYPE), _date()]))
            async for part in content:
                await self._send(h11.Data(data=part))
            await self._send(h11.EndOfMessage())
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _respond(self, status: int, body: bytes, more: list[tuple[str, str]] | None = None) -> None:
        headers = [("Content-Type", JSON_TYPE), ("Content-Length", str(len(body))), _date(), *(more or [])]
        begun = self._http.send(h11.Response(status_code=status, headers=headers)) or b""
        begun += self._http.send(h11.Data(data=body)) or b""
        await self.write(begun + (self._http.send(h11.EndOfMessage()) or b""))

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            await self.more()
        return event

    async def _send(self, event: h11.Event) -> None:
        await self.write(self._http.send(event) or b"")


def _date() -> tuple[str, str]:
    return ("Date", formatdate(usegmt=True))


def protocols() -> Factory:
    """Return a factory of protocols for connections."""
    return H11Connection
