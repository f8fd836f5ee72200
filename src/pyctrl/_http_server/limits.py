"""Limits of a server on its clients."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServerLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Limits on the connections, request bytes and times of the clients of one server.

    The server closes a connection that exceeds a time limit. At the limit of connections, it closes the one that has
    waited longest for its client to accept a new one. A connection with a request in progress is never closed for
    another.
    """

    #: Open connections, TLS handshakes included. An idle one takes about 60 kB over TLS.
    connections: int = 500
    #: Bytes of received requests that are not answered yet, of all connections together. At the limit the server closes
    #: the slowest request; if none is slow, it pauses reading until others are answered.
    request_bytes: int = 64 * 1024 * 1024
    #: Seconds for a TLS handshake and the head of the first request, and for the head of each later one.
    #: controller-runtime's ReadHeaderTimeout.
    head_seconds: float = 32.0
    #: Seconds for the body of a request. The API server waits at most 30 for the whole answer of a webhook.
    body_seconds: float = 30.0
    #: Seconds for which a connection is kept without a request. controller-runtime's IdleTimeout.
    idle_seconds: float = 90.0
    #: Seconds for which a client may stop reading a response.
    stall_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if (value := getattr(self, name)) <= 0:
                raise ValueError(f"ServerLimits: {name} must be greater than 0, got {value!r}")
