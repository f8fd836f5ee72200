"""The seam between the server and the programs that answer webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


class ServiceReference(NamedTuple):
    """The service that a webhook names instead of a URL."""

    namespace: str
    name: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """One POST to a webhook.

    `url` is what kube-apiserver's messages show: for a service `https://NAME.NAMESPACE.svc:PORT/PATH`, and with the
    timeout in its query. Whoever carries the request need not count `timeout_seconds`: the server does.
    """

    url: str
    body: bytes  # JSON
    timeout_seconds: float
    ca: bytes = b""  # PEM; without, the authorities of the system count
    service: ServiceReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookResponse:
    """What a webhook answers."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


class WebhookUnreachable(Exception):
    """Raised by a `WebhookCaller` when no answer can be had; the text says why, in a few words.

    ``url`` is the one that does not answer, where that is not the request's: after a redirect.
    """

    def __init__(self, why: str, *, url: str = "") -> None:
        super().__init__(why)
        self.url = url


class WebhookCaller(Protocol):
    """Carries requests to webhooks. An `async def` function will do: it may route by the URL's path, or the service."""

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Give the answer, whatever its status.

        Raises:
            WebhookUnreachable: there is none. An OSError is taken for the same.
        """
        ...
