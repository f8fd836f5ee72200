"""`WsApiClient` of kubernetes_asyncio, for exec, attach and port-forward, over connections with pyctrl's login."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import aiohttp
from kubernetes_asyncio.stream import WsApiClient
from kubernetes_asyncio.stream.ws_client import get_websocket_url

from pyctrl.client._kubernetes_asyncio.api_client import TransportRESTClient, set_attributes
from pyctrl.client._kubernetes_asyncio.responses import mapped_errors
from pyctrl.client._login.config import Config
from pyctrl.client._transport.aiohttp import AiohttpTransport
from pyctrl.client._transport.transport import HttpRequest
from pyctrl.errors import ConfigError

__all__ = ["TransportWsApiClient", "WebSocketSession"]


class TransportWsApiClient(WsApiClient):
    """The library's WsApiClient over a transport, which it owns. A transport that is wrapped is not used."""

    def __init__(self, config: Config, heartbeat: float | None) -> None:
        if config.application is not None:
            raise ConfigError(
                "exec and attach need a web socket, which an API server in this process does not have; "
                "use the Config of a cluster on the network"
            )
        transport = AiohttpTransport(config)
        rest_client = TransportRESTClient(transport, config.server)
        rest_client.pool_manager = WebSocketSession(transport, config.server)  # type: ignore[assignment]
        set_attributes(self, config, rest_client)
        self.heartbeat = heartbeat


class WebSocketSession:
    """The used part of an aiohttp session: `ws_connect`."""

    def __init__(self, transport: AiohttpTransport, server: str) -> None:
        self._transport = transport
        self._server = get_websocket_url(server)

    @asynccontextmanager
    async def ws_connect(
        self, url: str, *, headers: Mapping[str, str], heartbeat: float | None = None
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a web socket, which is closed at the end of the block.

        Raises:
            aiohttp.WSServerHandshakeError: the server returned an error.
            aiohttp.ClientError: there is no connection.
        """
        request = self._request(url, headers)
        opened = self._transport.web_socket(request, heartbeat=heartbeat)
        with mapped_errors():
            socket = await opened.__aenter__()
        try:
            yield socket
        finally:
            await opened.__aexit__(None, None, None)

    def _request(self, url: str, headers: Mapping[str, Any]) -> HttpRequest:
        parts = urlsplit(url.removeprefix(self._server))
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return HttpRequest(method="GET", path=unquote(parts.path), query=query, headers=headers, timeout=None)
