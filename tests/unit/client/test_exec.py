"""`exec_command` with servers that do not keep to the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl._websocket import Opcode, encode_frame
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, Response, Upgrade, UpgradedConnection
from pyctrl.client import Client, InProcessTransport, exec_command
from pyctrl.errors import StreamBroken
from pyctrl.testing import run_virtual


class Server(ApiServer):
    """Answers exec with any connection."""

    def __init__(self, serve: Callable[[UpgradedConnection], Awaitable[None]] | None) -> None:
        super().__init__()
        self._serve = serve

    async def handle(self, *_: Any, **__: Any) -> Response:
        return Response(status=200) if self._serve is None else Response(status=101, body=Upgrade(self._serve))


async def leave(connection: UpgradedConnection) -> None:
    """Send some output and no status."""
    await connection.write(encode_frame(Opcode.BINARY, b"\x01out"))


async def babble(connection: UpgradedConnection) -> None:
    """Send bytes that are no frame."""
    await connection.write(b"\xff\xff")


@pytest.mark.parametrize(
    ("serve", "message"),
    [(None, "instead of a WebSocket"), (leave, "ended before the command"), (babble, "is no WebSocket")],
)
def test_a_broken_connection_is_an_error(serve: Any, message: str) -> None:
    """A command whose exit code is not known raises instead of returning a part of the output."""

    async def main() -> None:
        async with Client(InProcessTransport(Server(serve))) as client:
            with pytest.raises(StreamBroken, match=message):
                await exec_command(client, Key("default", "p"), ["ls"])

    run_virtual(main())
