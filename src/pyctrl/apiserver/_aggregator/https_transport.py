"""Transport to extension API servers over HTTPS, with the client certificate of the aggregator."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pyctrl._go.tls_errors import handshake_error
from pyctrl.apiserver._aggregator.service_transport import ProxyRequest
from pyctrl.apiserver._authority import KeyPair
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._proxy.exchange import exchange
from pyctrl.apiserver._proxy.round_tripper import ServiceUnreachable

__all__ = ["HttpsTransport"]

PIECE = 64 * 1024  # bytes read at a time


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
        url = urlsplit(request.url)
        host, port = url.hostname or "", url.port or 443
        name = f"{request.service.name}.{request.service.namespace}.svc"
        try:
            streams = await asyncio.open_connection(host, port, ssl=context, server_hostname=name)
            return await exchange(_TLSConnection(*streams), request)
        except OSError as error:
            raise ServiceUnreachable(_reason(error, host, port)) from None


class _TLSConnection:
    """The connection of one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        return await self._reader.read(PIECE)

    async def write(self, data: bytes) -> None:
        """Write bytes. Waits until most of what was written before is sent."""
        await self._writer.drain()
        self._writer.write(data)

    async def close(self) -> None:
        self._writer.close()


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
        import tempfile  # here: it imports a lot, and most servers have no such certificate

        with tempfile.TemporaryDirectory(prefix="pyctrl-") as directory:  # OpenSSL reads keys only from files
            path = Path(directory, "client.pem")
            path.touch(mode=0o600)
            path.write_bytes(client.certificate + client.key)
            context.load_cert_chain(path)
    return context


_ADDRESS = re.compile(r"Connect call failed \('([^']+)'")  # asyncio's text
_MISMATCH = (62, 64)  # OpenSSL's verification results: of the host name, of the IP address
_EXPIRED = 10


def _reason(error: OSError, host: str, port: int) -> str:
    """Return the reason of a failed request in Go's words."""
    match error:
        case ssl.SSLCertVerificationError():
            why = "certificate signed by unknown authority"
            if error.verify_code == _EXPIRED:
                why = "certificate has expired or is not yet valid"
            elif error.verify_code in _MISMATCH:
                why = "certificate is not valid for the name of the service"
            return f"tls: failed to verify certificate: x509: {why}"
        case ssl.SSLError():
            return handshake_error(error)
        case socket.gaierror():
            return f"dial tcp: lookup {host}: no such host"
        case ConnectionResetError() | BrokenPipeError():
            return "EOF"
    address = _ADDRESS.search(str(error))
    why = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"dial tcp {address[1] if address else host}:{port}: connect: {why}"
