"""Requests that a proxy sends, and the interfaces that carry them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pyctrl._pipes import ByteConnection
from pyctrl.apiserver._errors import Response

__all__ = ["BackendConnection", "BrokenResponse", "NoResponse", "OutgoingRequest", "RoundTripper", "ServiceUnreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
    """A request that a proxy sends."""

    method: str
    url: str  # with the host and port to which it is sent
    headers: Sequence[tuple[str, str]]
    body: bytes
    is_streaming: bool = False  # a watch, or another response without an end
    is_upgrade: bool = False  # the client wants to continue with another protocol, which its headers name


class ServiceUnreachable(Exception):
    """Raised by a transport that gets no response. The text is the reason, in Go's words."""


class BrokenResponse(ServiceUnreachable):
    """Raised for a response that ends too early or is no HTTP, after the request was sent."""


class NoResponse(BrokenResponse):
    """Raised if a connection ended before a byte of the response: the server may have closed it when it was idle."""


#: Sends a request and returns the response. It raises ServiceUnreachable if there is none; an OSError means the same.
RoundTripper: TypeAlias = Callable[[OutgoingRequest], Awaitable[Response]]


class BackendConnection(ByteConnection, Protocol):
    """A connection to a server."""

    async def close(self) -> None:
        """Close both directions."""
        ...
