"""The caller that speaks HTTPS: certificates are verified against the webhook's own bundle."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from typing import TYPE_CHECKING

from ._calls import WebhookAnswer, WebhookRequest, WebhookUnreachable
from ._services import ServiceResolver

if TYPE_CHECKING:
    from yarl import URL

_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "User-Agent": "kube-apiserver-admission",
}
_UNTRUSTED = {10: "certificate has expired or is not yet valid"}  # OpenSSL's verification results, in Go's words
_MISMATCH = (62, 64)  # of a host's name, of an address


class HttpsCaller:
    """Calls webhooks over the network, one connection for each call.

    Args:
        resolve: where services are.
    """

    def __init__(self, resolve: ServiceResolver) -> None:
        self._resolve = resolve

    async def __call__(self, request: WebhookRequest, /) -> WebhookAnswer:
        """Post the request."""
        import aiohttp  # here: a server without webhooks in the network needs no client
        from yarl import URL

        url, headers, name = URL(request.url, encoded=True), dict(_HEADERS), None
        if request.service is not None:
            name = url.host
            headers["Host"] = f"{name}:{url.port}"
            host, port = self._resolve(request.service)
            url = url.with_host(host).with_port(port)
        # Kept until the session ends, which cuts it: to close it at once would wait for the other side's goodbye.
        connector = aiohttp.TCPConnector(ssl=_trust(request.ca))
        try:
            async with (
                aiohttp.ClientSession(connector=connector, trust_env=False) as session,
                session.post(
                    url, data=request.body, headers=headers, server_hostname=name, allow_redirects=False
                ) as answer,
            ):
                kind = answer.headers.get("Content-Type", "")
                return WebhookAnswer(status=answer.status, body=await answer.read(), content_type=kind)
        except aiohttp.ClientConnectorCertificateError as error:
            raise WebhookUnreachable(_distrust(error.certificate_error, name or url.host or "")) from None
        except aiohttp.ClientConnectorDNSError:
            raise WebhookUnreachable(f"dial tcp: lookup {url.host}: no such host") from None
        except aiohttp.ClientConnectorSSLError:
            raise WebhookUnreachable("tls: first record does not look like a TLS handshake") from None
        except aiohttp.ClientConnectorError as error:
            raise WebhookUnreachable(_no_connection(url, error.os_error)) from None
        except aiohttp.ServerDisconnectedError:
            raise WebhookUnreachable("EOF") from None
        except aiohttp.ClientError as error:
            raise WebhookUnreachable(str(error) or type(error).__name__) from None


@lru_cache(maxsize=64)
def _trust(ca: bytes) -> ssl.SSLContext:
    """Trust the authorities of a bundle, or those of the system."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca:
        context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    return context


def _distrust(error: Exception, host: str) -> str:
    code = getattr(error, "verify_code", 0)
    why = f"certificate is not valid for {host}" if code in _MISMATCH else _UNTRUSTED.get(code)
    return f"tls: failed to verify certificate: x509: {why or 'certificate signed by unknown authority'}"


def _no_connection(url: URL, error: OSError) -> str:
    if isinstance(error, ConnectionResetError) or not error.errno:
        return str(error) or "EOF"
    return f"dial tcp {url.host}:{url.port}: connect: {os.strerror(error.errno).lower()}"
