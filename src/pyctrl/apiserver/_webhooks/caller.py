"""The interface that carries the server's requests to webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = [
    "ServiceReference",
    "WebhookCaller",
    "WebhookCredentials",
    "WebhookRequest",
    "WebhookResponse",
    "WebhookUnreachable",
]


class ServiceReference(NamedTuple):
    """A reference to the service of a webhook without a URL."""

    namespace: str
    name: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCredentials:
    """What the server presents to a webhook.

    Attributes:
        headers: Headers of a token, a password or an impersonation.
        certificate: The client certificate in PEM, with `key`; empty for none.
        key: The key of the certificate in PEM.
    """

    headers: tuple[tuple[str, str], ...] = ()
    certificate: bytes = b""
    key: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """One POST to a webhook.

    `url` is the one in kube-apiserver's messages: for a service `https://NAME.NAMESPACE.svc:PORT/PATH`, with the
    timeout in its query. The server enforces `timeout_seconds`; a caller need not.
    """

    url: str
    body: bytes  # JSON
    timeout_seconds: float
    ca: bytes = b""  # PEM; empty for the certificate authorities of the system
    service: ServiceReference | None = None
    credentials: WebhookCredentials = WebhookCredentials()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookResponse:
    """The response of a webhook."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


class WebhookUnreachable(Exception):
    """Raised by a `WebhookCaller` that gets no response. The text is the reason, in a few words.

    ``url`` is the failing URL if it is not the request's: after a redirect, or that of an endpoint.
    """

    def __init__(self, why: str, *, url: str = "") -> None:
        super().__init__(why)
        self.url = url


class WebhookCaller(Protocol):
    """Carries requests to webhooks. It can be an `async def` function that routes by the URL's path or the service."""

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Return the response, of any status.

        Raises:
            WebhookUnreachable: There is no response. An OSError means the same.
        """
        ...
