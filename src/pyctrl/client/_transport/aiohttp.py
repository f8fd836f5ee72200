"""Transport over HTTP and TLS with aiohttp. It converts the errors of aiohttp and of the system."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import aiohttp
from aiohttp.connector import Connection
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from pyctrl.client._login.config import Config
from pyctrl.client._login.plain_http import is_readable, warn_of_sent_credentials
from pyctrl.client._login.tls import RECHECK_SECONDS, CertificateSource, TlsContexts
from pyctrl.client._transport.aiohttp_delivery import deliver_body
from pyctrl.client._transport.aiohttp_upgrade import AiohttpUpgradedStream
from pyctrl.client._transport.leader_gate import check_gates, write_gates
from pyctrl.client._transport.transport import Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, NotLeading, RequestTimeout, StreamBroken, TransportError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["AiohttpTransport"]

CONNECT_TIMEOUT = 10.0  # seconds for TCP; the TLS handshake counts as part of the answer
CONNECTIONS = 100  # concurrent, for requests; watches do not count, because they would starve requests
_UNKNOWN_ISSUER = (18, 19, 20, 21)  # X509_V_ERR_…: self-signed, or signed by an unknown authority
KEEP_ALIVE = 30.0  # seconds; kube-apiserver closes idle connections after 90, load balancers after 60
#: The gated request that this task sends. aiohttp writes a body in a task of its own, which inherits it.
_sending: ContextVar[HttpRequest | None] = ContextVar("pyctrl gated request", default=None)


class AiohttpTransport:
    """Transport to the server of a `Config`, with its credentials, certificates and proxy.

    Requests share a bounded pool of connections. Each stream has its own connection. The Authorization header is read
    from the credentials for every request, so rotation needs no new transport. After a 401 the credentials are renewed,
    once for concurrent requests, and the request is sent again. Nothing is read from the environment. A warning is
    logged, once for each server, if credentials leave this machine over plain HTTP.

    Args:
        config: the server and the login.
        compression: request compressed responses. It saves network and costs CPU on both sides, about as much as the
            rest of reading a list. Use it over slow connections only.
    """

    def __init__(self, config: Config, *, compression: bool = False) -> None:
        self._config = config
        self._root = config.server.rstrip("/")
        self._is_readable = is_readable(config.server, config.proxy)
        self._sessions: _Sessions | None = None
        self._responses: set[aiohttp.ClientResponse] = set()  # being read; aiohttp's close() would let readers hang
        self._is_closed = False
        self._headers = {
            "User-Agent": config.user_agent,
            "Accept-Encoding": "gzip, deflate" if compression else "identity",
        }
        self._contexts = _contexts(config) if self._root.startswith("https:") else None
        self._building = asyncio.Lock()

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole response."""
        with _MapErrors(request, self._config):
            response = await self._send(self._opened().requests, request, _timeout(request.timeout))
            self._responses.add(response)
            try:
                body = await response.read()
            finally:
                self._end(response)
        return HttpResponse(status=response.status, headers=Headers(response.headers.items()), body=body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request. Its response body can be read inside the block."""
        mapped = _MapErrors(request, self._config)
        with mapped:
            timeout = _timeout(request.timeout, idle_timeout)
            response = await self._send(self._opened().streams, request, timeout, request.head_timeout)
        self._responses.add(response)
        try:
            yield AiohttpUpgradedStream(response) if response.status == 101 else _Stream(response, mapped)
        finally:
            self._end(response)

    @asynccontextmanager
    async def web_socket(
        self, request: HttpRequest, *, heartbeat: float | None = None
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a web socket with the credentials of the login. It is closed at the end of the block.

        Raises:
            aiohttp.WSServerHandshakeError: the server returned an error.
        """
        session = self._opened().streams
        with _MapErrors(request, self._config):
            headers = await self._headers_of(request)
            try:
                socket = await self._upgrade(session, request, headers, heartbeat)
            except aiohttp.WSServerHandshakeError as error:
                if error.status != 401 or not await self._is_renewed(headers.get("Authorization")):
                    raise
                socket = await self._upgrade(session, request, await self._headers_of(request), heartbeat)
        try:
            yield socket
        finally:
            await socket.close()

    async def _upgrade(
        self, session: aiohttp.ClientSession, request: HttpRequest, headers: CIMultiDict[str], heartbeat: float | None
    ) -> aiohttp.ClientWebSocketResponse:
        return await session.ws_connect(
            self._url(request),
            headers=headers,
            heartbeat=heartbeat,
            proxy=self._config.proxy,
            ssl=True if self._contexts is None else await self._context(self._contexts),
            server_hostname=self._config.tls.server_name,
        )

    def _end(self, response: aiohttp.ClientResponse) -> None:
        """Close a response. Its connection is reused if the body was read completely, and aborted otherwise."""
        self._responses.discard(response)
        response.close()

    async def aclose(self) -> None:
        """Close every connection. Responses that are being read raise `StreamBroken`."""
        self._is_closed = True
        sessions, self._sessions = self._sessions, None
        for response in self._responses:
            response.close()
        if sessions is not None:
            await sessions.requests.close()
            await sessions.streams.close()

    def _opened(self) -> _Sessions:
        if self._is_closed:
            raise ConnectionFailed(f"the transport to {self._root} is closed")
        if self._sessions is None:  # created here because a session is bound to the running loop
            self._sessions = _Sessions(_session(self._headers, CONNECTIONS), _session(self._headers, 0))
        return self._sessions

    async def _send(
        self,
        session: aiohttp.ClientSession,
        request: HttpRequest,
        timeout: aiohttp.ClientTimeout,
        head_timeout: float | None = None,
    ) -> aiohttp.ClientResponse:
        headers = await self._headers_of(request)
        response = await self._send_once(session, request, headers, timeout, head_timeout)
        if response.status == 401 and await self._is_renewed(headers.get("Authorization")):
            response.release()
            headers = await self._headers_of(request)
            response = await self._send_once(session, request, headers, timeout, head_timeout)
        return response

    async def _send_once(
        self,
        session: aiohttp.ClientSession,
        request: HttpRequest,
        headers: CIMultiDict[str],
        timeout: aiohttp.ClientTimeout,
        head_timeout: float | None,
    ) -> aiohttp.ClientResponse:
        # Interactive plugins may run in here and in `_headers_of`, so no timeout applies yet.
        context = True if self._contexts is None else await self._context(self._contexts)
        sending = session.request(
            request.method,
            self._url(request),
            headers=headers,
            data=request.body,
            timeout=timeout,
            allow_redirects=False,
            proxy=self._config.proxy,
            ssl=context,  # part of the pool's key, so connections with an earlier context are not reused
            server_hostname=self._config.tls.server_name,
        )
        if head_timeout is None:
            return await sending
        async with asyncio.timeout(head_timeout):
            return await sending

    async def _context(self, contexts: TlsContexts) -> ssl.SSLContext:
        if contexts.context is not None and contexts.source is None:  # most requests: no check is due
            remaining = contexts.fresh_until - asyncio.get_running_loop().time()
            if 0 < remaining <= RECHECK_SECONDS:
                return contexts.context
        async with self._building:  # concurrent requests at the start share the first context
            return await contexts.current()

    async def _is_renewed(self, rejected: str | None) -> bool:
        """Renew rejected credentials and certificates. Concurrent callers share one renewal and its result."""
        renewed = await self._config.credentials.refresh(rejected)
        return (await self._contexts.refresh() if self._contexts else False) or renewed

    def _url(self, request: HttpRequest) -> URL:
        url = f"{self._root}{quote(request.path)}"
        return URL(f"{url}?{_encode_query(request.query)}" if request.query else url, encoded=True)

    async def _headers_of(self, request: HttpRequest) -> CIMultiDict[str]:
        stated = request.headers if isinstance(request.headers, Headers) else Headers.of(request.headers)
        if self._config.impersonate:
            stated = stated.over(Headers(self._config.impersonate.headers()))
        headers = CIMultiDict(stated.pairs)
        if "Authorization" not in headers:
            authorization = await self._config.credentials.authorization()
            if authorization is not None:
                headers["Authorization"] = authorization
                if self._is_readable:
                    warn_of_sent_credentials(self._root, self._config.credentials)
        return headers


@lru_cache(64)
def _timeout(total: float | None, idle: float | None = None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total, sock_connect=CONNECT_TIMEOUT, sock_read=idle)


@lru_cache(64)  # writes have few queries; those of lists and watches change
def _encode_query(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query)


class _GatedRequest(aiohttp.ClientRequest):
    """Request that must pass the gates of its task when it has a connection, and again when it is written.

    `RESTClient` checks them before. Since then a login, a full pool or a slow handshake may have outlasted the lease. A
    401 and a stale connection, after which aiohttp repeats PUT and DELETE, lead to further attempts. A process may be
    suspended at any time, so the last check is where bytes go to the kernel.
    """

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        if not write_gates.get():
            return await super().send(conn)
        request = HttpRequest(method=self.method, path=self.url.path)
        check_gates(request)
        token = _sending.set(request)
        try:
            return await super().send(conn)
        finally:
            _sending.reset(token)


class _NotSent(ConnectionAbortedError):
    """Ends the connection of a request that a gate did not let pass. Its cause is the NotLeading error."""


class _GatedSocket(socket.socket):
    """Socket of a connection. asyncio calls it in the task that writes, so its context is that of the request.

    Bytes that the kernel does not take at once are sent later, from another context: they belong to a request that has
    begun.
    """

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        _check_socket()
        return super().send(data, flags)

    def sendmsg(self, buffers: Iterable[ReadableBuffer], *args: Any) -> int:
        _check_socket()
        return super().sendmsg(buffers, *args)


def _check_socket() -> None:
    request = _sending.get()
    if request is not None:
        try:
            check_gates(request)
        except NotLeading as error:
            raise _NotSent(str(error)) from error


def _gated_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket for an entry of `getaddrinfo`."""
    family, kind, protocol, *_ = address
    return _GatedSocket(family, kind, protocol)


class _ClientResponse(aiohttp.ClientResponse):
    """Response whose connection is aborted when it is closed before its end.

    A clean TLS shutdown waits for the peer's close_notify. A busy or dead server sends none, and the socket would
    outlive the loop.
    """

    def close(self) -> None:
        connection = self.connection  # None if all was read: then it is in the pool
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
        super().close()


class _Sessions(Struct, frozen=True):
    requests: aiohttp.ClientSession
    streams: aiohttp.ClientSession


class _Stream:
    """`HttpStream` of an aiohttp response. A chunk is all data that has been received so far."""

    def __init__(self, response: aiohttp.ClientResponse, mapped: _MapErrors) -> None:
        self.status = response.status
        self.headers = Headers(response.headers.items())
        self._response = response
        self._content = response.content
        self._mapped = mapped

    async def read(self) -> bytes:
        with self._mapped:
            return await self._response.read()

    async def deliver(self, take: Callable[[bytes], None]) -> None:
        with self._mapped:
            failure = await deliver_body(self._response, take)
        if failure is not None:
            raise failure

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> _Stream:
        return self

    async def __anext__(self) -> bytes:
        with self._mapped:
            chunk = await self._content.readany()
        if not chunk:
            raise StopAsyncIteration
        return chunk


class _MapErrors:
    """Context manager that converts exceptions of aiohttp and the system to a `TransportError`."""

    def __init__(self, request: HttpRequest, config: Config) -> None:
        self._request = request
        self._config = config

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, aiohttp.WSServerHandshakeError):
            return  # an answer of the server
        if isinstance(error, aiohttp.ClientOSError) and isinstance(error.__cause__, _NotSent):
            raise NotLeading(str(error.__cause__)) from error
        if isinstance(error, (aiohttp.ClientError, OSError, TimeoutError)):
            raise _transport_error(error, self._request, self._config) from error
        # aiohttp's errors for a session or connection that was closed during a read
        if isinstance(error, RuntimeError) and str(error) in ("Session is closed", "Connection closed."):
            raise StreamBroken(f"the connection for {self._request} was closed on this side") from error


def _transport_error(error: Exception, request: HttpRequest, config: Config) -> TransportError:
    """Return the error by the fate of the request: not sent, timed out, or interrupted."""
    server = f"the API server at {config.server}"
    match error:
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return ConnectionFailed(f"cannot reach {server} through the proxy {URL(config.proxy or '').host}: {error}")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ServerFingerprintMismatch():
            advice = _explain_untrusted(error, config)
            return ConnectionFailed(f"{server} is not trusted: {_reason(error)}; {advice}")
        case aiohttp.ClientSSLError():
            return ConnectionFailed(
                f"TLS handshake with {server} failed: {_reason(error)}; does it speak https, and accept this login?"
            )
        case aiohttp.ClientConnectorError():
            advice = "is the cluster running, and is the address of the login right?"
            return ConnectionFailed(f"cannot connect to {server}: {_reason(error)}; {advice}")
        case aiohttp.ConnectionTimeoutError():
            advice = "is the address of the login right, and is there a firewall or proxy in between?"
            return ConnectionFailed(f"cannot connect to {server} within {CONNECT_TIMEOUT:g} seconds; {advice}")
        case TimeoutError():
            return RequestTimeout(f"{request} timed out at {server}")
        case aiohttp.InvalidURL():
            return ConnectionFailed(f"{config.server!r} is not the address of a server: {error}")
        case _:
            return StreamBroken(
                f"the response to {request} from {server} was interrupted: {str(error) or type(error).__name__}"
            )


def _explain_untrusted(error: Exception, config: Config) -> str:
    cause = getattr(error, "certificate_error", None)
    if config.tls.ca is None and getattr(cause, "verify_code", None) in _UNKNOWN_ISSUER:
        return (
            "the login has no certificate authority, so only the system's are trusted, and most clusters have their "
            "own; add its ca.crt (ca= in code, certificate-authority in a kubeconfig)"
        )
    return "does the login's certificate authority belong to this cluster?"


def _reason(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError():  # has no os_error before aiohttp 3.14
            cause: Exception = error.certificate_error
        case aiohttp.ClientConnectorError():
            cause = error.os_error
        case _:
            cause = error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return cause.verify_message
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return cause.reason.replace("_", " ").lower()
    if isinstance(cause, OSError) and not isinstance(cause, socket.gaierror) and cause.errno:
        return os.strerror(cause.errno)  # asyncio's strerror repeats the address
    return (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__


def _contexts(config: Config) -> TlsContexts:
    source = config.credentials if isinstance(config.credentials, CertificateSource) else None
    return TlsContexts(config.tls, source)


def _session(headers: dict[str, str], connections: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEP_ALIVE, socket_factory=_gated_socket),
        headers=headers,
        request_class=_GatedRequest,
        response_class=_ClientResponse,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # it would read proxies and .netrc in a thread for every request
        raise_for_status=False,
    )
