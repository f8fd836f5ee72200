"""SPDY handshake of a server: directly, or tunnelled in a WebSocket as clients since Kubernetes 1.31 do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from pyctrl._spdy import SPDYConnection, SPDYProtocolError
from pyctrl._websocket_connection import WebSocketConnection, WebSocketTunnel
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection
from pyctrl.apiserver._streaming.websocket import (
    is_upgrade_request,
    is_websocket_request,
    requested_protocols,
    websocket_response,
)

__all__ = ["is_tunnelling_request", "plain_response", "spdy_response", "tunnelled_spdy_response"]

TUNNEL_PREFIX = "SPDY/3.1+"
_ACCEPTED, _VERSION = "X-Accepted-Stream-Protocol-Versions", "X-Stream-Protocol-Version"

#: Serves a connection with the protocol that was agreed on.
SPDYServer = Callable[[SPDYConnection, str], Awaitable[None]]


def plain_response(status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Return an error as kubelets answer: a text, which is not a Status."""
    content_type = ("Content-Type", "text/plain; charset=utf-8")
    return Response(status=status, headers=(content_type, *headers), body=message.encode())


def spdy_response(headers: Mapping[str, str], protocols: tuple[str, ...], serve: SPDYServer) -> Response:
    """Return the response to a request that upgrades to SPDY: 101 with the first requested protocol that is supported.

    As of a kubelet, a request without protocols is 400, and 403 answers protocols that are not supported.
    """
    requested = [each.strip() for each in headers.get(_VERSION.lower(), "").split(",") if each.strip()]
    if refused := _refused(headers, requested, protocols):
        return refused
    if not is_upgrade_request(headers) or "spdy/3.1" not in headers.get("upgrade", "").lower():
        return plain_response(400, "unable to upgrade: missing upgrade headers in request")
    protocol = next(each for each in requested if each in protocols)

    async def upgraded(connection: UpgradedConnection) -> None:
        with suppress(SPDYProtocolError):  # the client notices the end of the connection
            await serve(SPDYConnection(connection), protocol)

    answer = (("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1"), (_VERSION, protocol))
    return Response(status=101, headers=answer, body=Upgrade(upgraded))


def is_tunnelling_request(headers: Mapping[str, str]) -> bool:
    """Return whether a request upgrades to a WebSocket in which SPDY is tunnelled."""
    return is_websocket_request(headers) and bool(_tunnelled(headers))


def tunnelled_spdy_response(headers: Mapping[str, str], protocols: tuple[str, ...], serve: SPDYServer) -> Response:
    """Return the response to a request that tunnels SPDY in a WebSocket."""
    if refused := _refused(headers, _tunnelled(headers), protocols):
        return refused

    async def tunnelled(socket: WebSocketConnection, protocol: str) -> None:
        tunnel = WebSocketTunnel(socket)
        with suppress(SPDYProtocolError):  # the client notices the end of the connection
            await serve(SPDYConnection(tunnel), protocol.removeprefix(TUNNEL_PREFIX))
        await tunnel.close()

    return websocket_response(headers, tuple(TUNNEL_PREFIX + each for each in protocols), tunnelled)


def _tunnelled(headers: Mapping[str, str]) -> list[str]:
    """Return the protocols that a WebSocket request wants to tunnel."""
    requested = requested_protocols(headers)
    return [
        each.removeprefix(TUNNEL_PREFIX)
        for each in requested
        if each.startswith(TUNNEL_PREFIX) and each.endswith(".k8s.io")
    ]


def _refused(headers: Mapping[str, str], requested: list[str], protocols: tuple[str, ...]) -> Response | None:
    """Return the response to requested protocols of which none is supported, or None."""
    prefix = "unable to upgrade: "
    if not requested and _VERSION.lower() not in headers:
        why = f"header {_VERSION} does not exist in request with {len(headers)} headers"
        return plain_response(400, prefix + why)
    if not requested:
        why = f"header {_VERSION} contains [{headers[_VERSION.lower()]}], but no valid protocols"
        return plain_response(400, prefix + why)
    if not any(each in protocols for each in requested):
        offered, accepted = " ".join(requested), " ".join(protocols)
        why = f"unable to negotiate protocol: client supports [{offered}], server accepts [{accepted}]"
        return plain_response(403, prefix + why, tuple((_ACCEPTED, each) for each in protocols))
    return None
