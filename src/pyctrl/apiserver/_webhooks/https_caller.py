"""Webhook caller over HTTPS, with certificates verified against the webhook's CA bundle."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl._go.tls_errors import handshake_error
from pyctrl.apiserver._webhooks.caller import (
    ServiceReference,
    WebhookCredentials,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)
from pyctrl.apiserver._webhooks.service_resolver import ServiceResolver

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from yarl import URL

__all__ = ["HttpsCaller"]


_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "User-Agent": "kube-apiserver-admission",
}
_UNTRUSTED = {10: "certificate has expired or is not yet valid"}  # OpenSSL's verification results, in Go's words
_MISMATCH = (62, 64)  # of the host name, of the IP address


MAX_REQUESTS = 10  # of one call, including redirects, as in net/http
_REDIRECTS = {301: "GET", 302: "GET", 303: "GET", 307: "POST", 308: "POST"}  # as in net/http; a GET has no body


class HttpsCaller:
    """Calls webhooks over the network, with one connection for each call. It follows redirects as Go's net/http.

    Args:
        resolve: Returns host and port of a service.
    """

    def __init__(self, resolve: ServiceResolver) -> None:
        self._resolve = resolve

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Post the request."""
        import aiohttp  # lazy: a server without webhooks over HTTPS does not need it
        from yarl import URL

        method, url = "POST", URL(request.url, encoded=True)
        # Kept until the session ends, which aborts it: closing it at once would wait for the peer's TLS shutdown.
        connector = aiohttp.TCPConnector(ssl=_tls_context(request.ca, request.credentials))
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:
            for _ in range(MAX_REQUESTS):
                answer, location = await self._send(session, method, url, request)
                if answer.status not in _REDIRECTS or not location:
                    return answer
                method = "GET" if method == "GET" else _REDIRECTS[answer.status]
                url = url.join(URL(location))
        raise WebhookUnreachable(f"stopped after {MAX_REQUESTS} redirects", url=str(url))

    async def _send(
        self, session: ClientSession, method: str, url: URL, request: WebhookRequest
    ) -> tuple[WebhookResponse, str]:
        """Send the request to a URL; return the response and the URL that it redirects to."""
        try:
            return await self._round_trip(session, method, url, request)
        except WebhookUnreachable as error:
            is_redirected = url != type(url)(request.url, encoded=True)
            raise WebhookUnreachable(str(error), url=str(url) if is_redirected else "") from None

    async def _round_trip(
        self, session: ClientSession, method: str, url: URL, request: WebhookRequest
    ) -> tuple[WebhookResponse, str]:
        import aiohttp  # lazy: see __call__
        from multidict import CIMultiDict

        # The certificate must be valid for the service's name, also after a redirect, as in kube-apiserver.
        name = _service_host(request.service)
        dialled, headers = url, CIMultiDict(_HEADERS)
        if request.service is not None and (url.host, url.port) == (name, request.service.port):
            headers["Host"] = f"{url.host}:{url.port}"
            host, port = self._resolve(request.service)
            dialled = url.with_host(host).with_port(port)
        headers.extend(request.credentials.headers)
        body = request.body if method == "POST" else None
        if body is None:
            del headers["Content-Type"]
        try:
            async with session.request(
                method, dialled, data=body, headers=headers, server_hostname=name, allow_redirects=False
            ) as answer:
                kind = answer.headers.get("Content-Type", "")
                read = WebhookResponse(status=answer.status, body=await answer.read(), content_type=kind)
                return read, answer.headers.get("Location", "")
        except aiohttp.ClientConnectorCertificateError as error:
            raise WebhookUnreachable(_certificate_error(error.certificate_error, name or url.host or "")) from None
        except aiohttp.ClientConnectorDNSError:
            raise WebhookUnreachable(f"dial tcp: lookup {dialled.host}: no such host") from None
        except aiohttp.ClientConnectorSSLError as error:
            raise WebhookUnreachable(_handshake_error(error.os_error)) from None
        except aiohttp.ClientConnectorError as error:
            raise WebhookUnreachable(_connect_error(dialled, error.os_error)) from None
        except aiohttp.ServerDisconnectedError:
            raise WebhookUnreachable("EOF") from None
        except aiohttp.ClientError as error:
            raise WebhookUnreachable(str(error) or type(error).__name__) from None


def _service_host(service: ServiceReference | None) -> str | None:
    return None if service is None else f"{service.name}.{service.namespace}.svc"


@lru_cache(maxsize=64)
def _tls_context(ca: bytes, credentials: WebhookCredentials) -> ssl.SSLContext:
    """Return a TLS context that trusts a CA bundle or, without one, the certificate authorities of the system.

    As in Go, any certificate of the bundle is a root: also a server's certificate, as in envtest and many charts.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca:
        context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if credentials.certificate:
        import tempfile  # here: it imports a lot, and most servers have no such certificate

        with tempfile.TemporaryDirectory(prefix="pyctrl-") as directory:  # ssl reads certificates from files only
            file = Path(directory, "client.pem")
            file.touch(mode=0o600)
            file.write_bytes(credentials.certificate + b"\n" + credentials.key)
            context.load_cert_chain(file)
    return context


def _certificate_error(error: Exception, host: str) -> str:
    code = getattr(error, "verify_code", 0)
    why = f"certificate is not valid for {host}" if code in _MISMATCH else _UNTRUSTED.get(code)
    return f"tls: failed to verify certificate: x509: {why or 'certificate signed by unknown authority'}"


def _handshake_error(error: OSError) -> str:
    return handshake_error(error) if isinstance(error, ssl.SSLError) else str(error)


def _connect_error(url: URL, error: OSError) -> str:
    if isinstance(error, ConnectionResetError) or not error.errno:
        return str(error) or "EOF"
    return f"dial tcp {url.host}:{url.port}: connect: {os.strerror(error.errno).lower()}"
