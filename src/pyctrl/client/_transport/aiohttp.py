"""The transport to a cluster, over HTTP and TLS with aiohttp; aiohttp's and the system's errors end here."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from urllib.parse import quote, urlencode

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from pyctrl.client._login.config import Config
from pyctrl.client._login.plain_http import is_readable, warn_of_sent_credentials
from pyctrl.client._login.tls import RECHECK_SECONDS, CertificateSource, TlsContexts
from pyctrl.client._transport.aiohttp_delivery import deliver_body
from pyctrl.client._transport.transport import HEAD_TIMEOUT, Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError

__all__ = ["AiohttpTransport"]

CONNECT_TIMEOUT = 10.0  # seconds for TCP; the TLS handshake counts as part of the answer
CONNECTIONS = 100  # at once, for requests; watches are not counted, or they would starve them
_UNKNOWN_ISSUER = (18, 19, 20, 21)  # X509_V_ERR_…: self-signed, or signed by an authority that is not known
KEEP_ALIVE = 30.0  # seconds; kube-apiserver closes idle connections after 90, load balancers after 60


class AiohttpTransport:
    """Speaks to the server that a `Config` names, with its credentials, certificates and proxy.

    Requests share a bounded pool of connections, each stream has one of its own. The Authorization header is asked
    from the credentials for every request, so rotation needs no new transport; after a 401 they are renewed once,
    whoever of many asks first, and the request is sent again. Nothing is read from the environment. Credentials that go
    out over plain HTTP and leave this machine are warned of, once for each server.

    Args:
        config: which server, and how to log in.
        compression: let the server compress what it sends. It saves network and costs CPU on both sides, about as
            much as all the rest of reading a list; worth it over slow lines only.
    """

    def __init__(self, config: Config, *, compression: bool = False) -> None:
        self._config = config
        self._root = config.server.rstrip("/")
        self._is_readable = is_readable(config.server, config.proxy)
        self._sessions: _Sessions | None = None
        self._answers: set[aiohttp.ClientResponse] = set()  # that are being read: aiohttp would let their readers hang
        self._is_closed = False
        self._headers = {
            "User-Agent": config.user_agent,
            "Accept-Encoding": "gzip, deflate" if compression else "identity",
        }
        self._contexts = _contexts(config) if self._root.startswith("https:") else None
        self._building = asyncio.Lock()

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole answer."""
        with _MapErrors(request, self._config):
            response = await self._send(self._opened().requests, request, _timeout(request.timeout))
            self._answers.add(response)
            try:
                body = await response.read()
            finally:
                self._end(response)
        return HttpResponse(status=response.status, headers=Headers(response.headers.items()), body=body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request; inside the block its body can be read."""
        mapped = _MapErrors(request, self._config)
        with mapped:
            timeout = _timeout(request.timeout, idle_timeout)
            response = await self._send(self._opened().streams, request, timeout, HEAD_TIMEOUT)
        self._answers.add(response)
        try:
            yield _Stream(response, mapped)
        finally:
            self._end(response)

    def _end(self, response: aiohttp.ClientResponse) -> None:
        """End an answer: its connection is kept when all of it was read, and cut otherwise."""
        self._answers.discard(response)
        response.close()

    async def aclose(self) -> None:
        """Close every connection; what is being read from one breaks off."""
        self._is_closed = True
        sessions, self._sessions = self._sessions, None
        for response in self._answers:
            response.close()
        if sessions is not None:
            await sessions.requests.close()
            await sessions.streams.close()

    def _opened(self) -> _Sessions:
        if self._is_closed:
            raise ConnectionFailed(f"the transport to {self._root} is closed")
        if self._sessions is None:  # not before: a session belongs to a running loop
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
        # Plugins that ask a human may run in here and in `_headers_of`: no timer runs yet.
        context = True if self._contexts is None else await self._context(self._contexts)
        sent = session.request(
            request.method,
            self._url(request),
            headers=headers,
            data=request.body,
            timeout=timeout,
            allow_redirects=False,
            proxy=self._config.proxy,
            ssl=context,  # part of the pool's key: what was connected with another one is not used again
            server_hostname=self._config.tls.server_name,
        )
        if head_timeout is None:
            return await sent
        async with asyncio.timeout(head_timeout):
            return await sent

    async def _context(self, contexts: TlsContexts) -> ssl.SSLContext:
        if contexts.context is not None and contexts.source is None:  # most requests: nothing to check yet
            remaining = contexts.fresh_until - asyncio.get_running_loop().time()
            if 0 < remaining <= RECHECK_SECONDS:
                return contexts.context
        async with self._building:  # many requests at the start share the first context
            return await contexts.current()

    async def _is_renewed(self, rejected: str | None) -> bool:
        """Renew what the server has refused; one of many askers does it, the others learn the outcome."""
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


@lru_cache(64)  # the queries of writes are few; those of lists and watches come and go
def _encode_query(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query)


class _ClientResponse(aiohttp.ClientResponse):
    """An answer whose connection is cut when it is closed, whether its reader left it or it has not even begun.

    Closing it in good order would mean, with TLS, to wait for the other side's goodbye. A server that is busy or dead
    says none, and the socket would outlive the loop.
    """

    def close(self) -> None:
        connection = self.connection  # None when all was read: then it is kept
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
        super().close()


class _Sessions(Struct, frozen=True):
    requests: aiohttp.ClientSession
    streams: aiohttp.ClientSession


class _Stream:
    """An answer of aiohttp as an `HttpStream`: chunks as the socket gave them, all that are there at once."""

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
    """Turns what aiohttp and the system raise inside the block into a `TransportError`, once."""

    def __init__(self, request: HttpRequest, config: Config) -> None:
        self._request = request
        self._config = config

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (aiohttp.ClientError, OSError, TimeoutError)):
            raise _transport_error(error, self._request, self._config) from error
        # aiohttp's own words for a session or connection that was closed under a reader
        if isinstance(error, RuntimeError) and str(error) in ("Session is closed", "Connection closed."):
            raise StreamBroken(f"the connection for {self._request} was closed on this side") from error


def _transport_error(error: Exception, request: HttpRequest, config: Config) -> TransportError:
    """Choose the class by what is known of the request: not sent, too slow, or broken off."""
    server = f"the API server at {config.server}"
    match error:
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return ConnectionFailed(f"cannot reach {server} through the proxy {URL(config.proxy or '').host}: {error}")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ServerFingerprintMismatch():
            advice = _explain_untrusted(error, config)
            return ConnectionFailed(f"{server} is not trusted: {_reason(error)}; {advice}")
        case aiohttp.ClientSSLError():
            return ConnectionFailed(
                f"no TLS with {server}: {_reason(error)}; does it speak https, and take this login?"
            )
        case aiohttp.ClientConnectorError():
            advice = "is the cluster running, and is the address of the login right?"
            return ConnectionFailed(f"cannot connect to {server}: {_reason(error)}; {advice}")
        case aiohttp.ConnectionTimeoutError():
            advice = "is the address of the login right, and does a firewall or proxy stand between?"
            return ConnectionFailed(f"cannot connect to {server} within {CONNECT_TIMEOUT:g} seconds; {advice}")
        case TimeoutError():
            return RequestTimeout(f"no answer to {request} in time from {server}")
        case aiohttp.InvalidURL():
            return ConnectionFailed(f"{config.server!r} is not an address of a server: {error}")
        case _:
            return StreamBroken(
                f"the answer to {request} from {server} broke off: {str(error) or type(error).__name__}"
            )


def _explain_untrusted(error: Exception, config: Config) -> str:
    cause = getattr(error, "certificate_error", None)
    if config.tls.ca is None and getattr(cause, "verify_code", None) in _UNKNOWN_ISSUER:
        return (
            "the login names no certificate authority, so only the system's are trusted, and most clusters have one of "
            "their own: add its ca.crt (ca= in code, certificate-authority in a kubeconfig)"
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
        return os.strerror(cause.errno)  # asyncio puts the address here, which has been said
    return (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__


def _contexts(config: Config) -> TlsContexts:
    source = config.credentials if isinstance(config.credentials, CertificateSource) else None
    return TlsContexts(config.tls, source)


def _session(headers: dict[str, str], connections: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEP_ALIVE),
        headers=headers,
        response_class=_ClientResponse,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # it would look for proxies and .netrc in a thread, for every request
        raise_for_status=False,
    )
