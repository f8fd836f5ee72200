"""The interface that carries proxied requests to the services of APIServices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._proxy.round_tripper import OutgoingRequest, ServiceUnreachable
from pyctrl.apiserver._webhooks import ServiceReference

__all__ = ["ProxyRequest", "ServiceTransport", "ServiceUnreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest(OutgoingRequest):
    """A request that the aggregator proxies. Its headers have the user: `X-Remote-User`, `X-Remote-Group`, ….

    The caller of the transport limits the time.
    """

    service: ServiceReference
    ca: bytes = b""  # PEM; empty for the certificate authorities of the system
    skips_tls_verify: bool = False


class ServiceTransport(Protocol):
    """Carries requests to the extension API servers. It can be an `async def` function."""

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Return the response, of any status. If the request is streaming, the body may be a stream.

        The body of a response with status 101 is an `Upgrade`.

        Raises:
            ServiceUnreachable: There is no response. An OSError means the same.
        """
        ...
