"""Transport to extension API servers over HTTPS, with the client certificate of the aggregator."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl.apiserver._aggregator.service_transport import ProxyRequest, ServiceUnreachable
from pyctrl.apiserver._aggregator.upgrades import upgrade
from pyctrl.apiserver._authority import KeyPair
from pyctrl.apiserver._errors import Response

if TYPE_CHECKING:
    from aiohttp import ClientResponse

__all__ = ["HttpsTransport"]

# Headers of one connection, which net/http/httputil.ReverseProxy does not pass on.
_HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length")
)


class HttpsTransport:
    """Sends proxied requests over the network, with one connection for each request.

    Args:
        client: Returns the client certificate by which an extension API server recognizes the aggregator.
    """

    def __init__(self, client: Callable[[], KeyPair | None]) -> None:
        self._client = client

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Send the request. A streaming response keeps the connection until its body is closed."""
        context = _tls_context(request.ca, request.skips_tls_verify, self._client())
        if request.is_upgrade:
            return await upgrade(request, context)
        import aiohttp  # lazy: a server without extension API servers does not need it
        from yarl import URL

        async with AsyncExitStack() as stack:
            connector = aiohttp.TCPConnector(ssl=context)
            session = await stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=connector,
                    trust_env=False,
                    auto_decompress=False,
                    skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                    timeout=aiohttp.ClientTimeout(total=None),
                    read_bufsize=2**20,
                )
            )
            url = URL(request.url, encoded=True)
            try:
                answer = await stack.enter_async_context(
                    session.request(
                        request.method,
                        url,
                        data=request.body or None,
                        headers=list(request.headers),
                        server_hostname=f"{request.service.name}.{request.service.namespace}.svc",
                        allow_redirects=False,
                    )
                )
                headers = [(name, value) for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP]
                if not request.is_streaming:
                    return Response(status=answer.status, headers=headers, body=await answer.read())
            except aiohttp.ClientError as error:
                raise ServiceUnreachable(_reason(error, url.host or "", url.port or 0)) from None
            return Response(status=answer.status, headers=headers, body=_stream(answer, stack.pop_all()))


async def _stream(answer: ClientResponse, stack: AsyncExitStack) -> AsyncGenerator[bytes, None]:
    """Yield the body as it is received. A connection that breaks ends the stream, as it does for a client of Go."""
    import aiohttp  # lazy: see HttpsTransport.__call__

    async with stack:
        try:
            async for chunk in answer.content.iter_any():
                yield chunk
        except aiohttp.ClientError:
            return


@lru_cache(maxsize=64)
def _tls_context(ca: bytes, skips_verify: bool, client: KeyPair | None) -> ssl.SSLContext:
    """Return a TLS context that trusts a CA bundle or, without one, the certificate authorities of the system."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if skips_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif ca:
        context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as in Go, any certificate of the bundle is a root
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if client is not None:
        with tempfile.TemporaryDirectory(prefix="pyctrl-") as directory:  # OpenSSL reads keys only from files
            path = Path(directory, "client.pem")
            path.touch(mode=0o600)
            path.write_bytes(client.certificate + client.key)
            context.load_cert_chain(path)
    return context


_ADDRESS = re.compile(r"Connect call failed \('([^']+)'")  # asyncio's text
_MISMATCH = (62, 64)  # OpenSSL's verification results: of the host name, of the IP address
_EXPIRED = 10


def _reason(error: Exception, host: str, port: int) -> str:
    """Return the reason of a failed request in Go's words."""
    import aiohttp  # lazy: see HttpsTransport.__call__

    match error:
        case aiohttp.ClientConnectorCertificateError():
            code = getattr(error.certificate_error, "verify_code", 0)
            why = "certificate signed by unknown authority"
            if code == _EXPIRED:
                why = "certificate has expired or is not yet valid"
            elif code in _MISMATCH:
                why = "certificate is not valid for the name of the service"
            return f"tls: failed to verify certificate: x509: {why}"
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {host}: no such host"
        case aiohttp.ClientConnectorSSLError():
            return "tls: first record does not look like a TLS handshake"
        case aiohttp.ClientConnectorError() if error.os_error.errno and error.os_error.errno > 0:
            address, why = _ADDRESS.search(str(error.os_error)), os.strerror(error.os_error.errno).lower()
            return f"dial tcp {address[1] if address else host}:{port}: connect: {why}"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return "EOF"
    return str(error) or type(error).__name__
