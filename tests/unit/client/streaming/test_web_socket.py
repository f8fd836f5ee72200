"""WebSockets to the subresources of pods."""

from __future__ import annotations

from random import Random

import pytest

from pyctrl._websocket import Opcode, accept_key
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, Response, Upgrade, UpgradedConnection
from pyctrl.client import Client, InProcessTransport
from pyctrl.client._streaming.web_socket import open_pod_socket
from pyctrl.errors import StreamBroken
from pyctrl.testing import run_virtual


class Server(ApiServer):
    """Answers any request with a WebSocket of a protocol, and repeats the bytes that it receives."""

    def __init__(self, status: int = 101) -> None:
        super().__init__()
        self.status = status
        self.requests: list[tuple[str, list[tuple[str, str]], str]] = []

    async def handle(self, method, path, query, headers, body, **_: object) -> Response:  # type: ignore[no-untyped-def]
        self.requests.append((path, list(query), headers["Sec-WebSocket-Protocol"]))

        async def serve(connection: UpgradedConnection) -> None:
            await connection.write(b"\x82\x02hi")

        protocol = ("Sec-WebSocket-Protocol", "b")
        accept = ("Sec-WebSocket-Accept", accept_key(headers["Sec-WebSocket-Key"]))
        return Response(
            status=self.status, headers=(protocol, accept), body=Upgrade(serve) if self.status == 101 else b""
        )


def test_the_server_selects_a_protocol() -> None:
    """The request has the protocols and the query; the messages of the server are read."""

    async def main() -> None:
        server = Server()
        async with (
            Client(InProcessTransport(server)) as client,
            open_pod_socket(client, Key("n", "p"), "exec", ("a", "b"), query=[("x", "1")], random=Random(1)) as opened,
        ):
            assert opened.protocol == "b"
            assert [each async for each in opened.socket.messages()] == [(Opcode.BINARY, b"hi")]
        assert server.requests == [("/api/v1/namespaces/n/pods/p/exec", [("x", "1")], "a, b")]

    run_virtual(main())


def test_another_answer_is_an_error() -> None:
    """A server or proxy that does not upgrade the connection cannot be used."""

    async def main() -> None:
        async with Client(InProcessTransport(Server(status=200))) as client:
            with pytest.raises(StreamBroken, match="instead of a WebSocket"):
                async with open_pod_socket(client, Key("n", "p"), "exec", ("a",)):
                    pytest.fail("not reached")

    run_virtual(main())
