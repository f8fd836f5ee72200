"""`ApiClient` of kubernetes_asyncio whose requests pyctrl's transport sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import aiohttp
from kubernetes_asyncio.client import ApiClient, ApiException, Configuration
from kubernetes_asyncio.client.rest import RESTClientObject, RESTResponse

from pyctrl.client._kubernetes_asyncio.responses import CompleteResponse, StreamedResponse, mapped_errors
from pyctrl.client._login.config import Config
from pyctrl.client._transport.connection import transport_for
from pyctrl.client._transport.leader_gate import check_gates, send_gated
from pyctrl.client._transport.rest_client import forbidden_log, note_live_read
from pyctrl.client._transport.transport import HttpRequest, Transport
from pyctrl.errors import Forbidden, from_api_exception

__all__ = ["TransportApiClient", "TransportRESTClient", "http_request", "set_attributes", "time_limits"]

_JSON_TYPES = ("json", "application/apply-patch+yaml")  # content types whose bodies the library encodes


class TransportApiClient(ApiClient):
    """The library's ApiClient over a transport, which adds the login to each request. It owns the transport.

    Its ``configuration`` has the address of the server and nothing of the login. It needs no running event loop.
    """

    def __init__(self, config: Config) -> None:  # its own __init__ would open a session and read certificates
        set_attributes(self, config, TransportRESTClient(transport_for(config), config.server))


def set_attributes(client: ApiClient, config: Config, rest_client: RESTClientObject) -> None:
    """Set what the constructor of the library's ApiClient sets."""
    client.configuration = Configuration(host=config.server)
    client.pool_threads = 1
    client.rest_client = rest_client
    client.default_headers = {}
    client.cookie = ""
    client.user_agent = config.user_agent
    client.client_side_validation = client.configuration.client_side_validation


class TransportRESTClient(RESTClientObject):
    """The library's REST client over a transport: converts requests, responses and errors."""

    def __init__(self, transport: Transport, server: str) -> None:  # its own __init__ would open a session
        self._transport = transport
        self._server = server
        self._streams: set[StreamedResponse] = set()

    def __getattr__(self, name: str) -> Any:
        """Raise an error that explains what the library's own REST client has and this one lacks."""
        hint = ": pyctrl's transport sends the requests, without a session of its own" if name == "pool_manager" else ""
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}", name=name, obj=self)

    async def request(
        self,
        method: str,
        url: str,
        query_params: Any = None,
        headers: dict[str, Any] | None = None,
        body: Any = None,
        post_params: Any = None,
        _preload_content: bool = True,
        _request_timeout: Any = None,
    ) -> Any:
        """Send a request. Return its response, read completely unless ``_preload_content`` is False.

        Raises:
            ApiException: the server returned an error, or the body cannot be sent.
            TimeoutError: there was no response in time.
            aiohttp.ClientError: there was no complete response.
            NotLeading: the request is a write of work that needs leader election, and the lease has expired.
        """
        total, idle = time_limits(_request_timeout)
        request = http_request(
            self._server, method, url, query_params or (), headers or {}, body, post_params, timeout=total
        )
        note_live_read(request)
        with mapped_errors():
            if not _preload_content:
                check_gates(request)
                return await self._stream(request, idle)
            if idle is None:
                return await send_gated(self._complete, request)
            return await send_gated(partial(self._complete_with_idle_limit, idle=idle), request)

    async def _complete(self, request: HttpRequest) -> Any:
        answer = await self._transport.request(request)
        return _checked(CompleteResponse(answer.status, _reason(answer.status), answer.headers), answer.body)

    async def _complete_with_idle_limit(self, request: HttpRequest, *, idle: float) -> Any:
        async with self._transport.stream(request, idle_timeout=idle) as stream:
            answer = CompleteResponse(stream.status, _reason(stream.status), stream.headers)
            return _checked(answer, await stream.read())

    async def _stream(self, request: HttpRequest, idle: float | None) -> Any:
        opened = self._transport.stream(request, idle_timeout=idle)
        stream = await opened.__aenter__()
        response = StreamedResponse(opened, stream, _reason(stream.status), self._streams)
        if stream.status >= 300:
            async with response:  # a release of the library returns it, an earlier and a later one raise
                _checked(response, await response.read())
        return response

    async def close(self) -> None:
        """Close the open responses and the transport."""
        for response in tuple(self._streams):
            await response.aclose()
        await self._transport.aclose()


def http_request(
    server: str,
    method: str,
    url: str,
    query: Any,
    headers: Mapping[str, Any],
    body: Any,
    post_params: Any = None,
    *,
    timeout: float | None = None,
) -> HttpRequest:
    """Return the request of a call of the library's ApiClient.

    Raises:
        ApiException: the body cannot be sent, or the URL is of another server.
    """
    if not url.startswith(f"{server}/"):
        raise ApiException(status=0, reason=f"{url} is not at {server}, the only server of this ApiClient")
    parts = urlsplit(url.removeprefix(server))
    texts = {name: str(value) for name, value in headers.items()}
    content = _encode_body(body, post_params, texts.get("Content-Type", "application/json"))
    if content is not None:
        texts.setdefault("Content-Type", "application/json")
    return HttpRequest(
        method=method.upper(),
        path=unquote(parts.path),
        query=(*parse_qsl(parts.query, keep_blank_values=True), *_pairs(query)),
        headers=texts,
        body=content,
        timeout=timeout,
        head_timeout=None,  # the first line of a log that is followed may take as long as it likes
    )


def _pairs(query: Any) -> tuple[tuple[str, str], ...]:
    """Return a query as the library writes it: the values by ``str``, and each item of a list as one pair."""
    items: Iterable[Any] = query.items() if isinstance(query, Mapping) else query
    return tuple(
        (name, str(each)) for name, value in items for each in (value if isinstance(value, list) else (value,))
    )


def _encode_body(body: Any, post_params: Any, content_type: str) -> bytes | None:
    if content_type == "application/x-www-form-urlencoded":
        return urlencode(post_params or ()).encode()
    if body is None or isinstance(body, bytes):
        return body
    if any(name in content_type.lower() for name in _JSON_TYPES):
        return json.dumps(body).encode()
    raise ApiException(status=0, reason=f"a body of type {type(body).__name__} cannot be sent as {content_type}")


def time_limits(request_timeout: Any) -> tuple[float | None, float | None]:
    """Return the seconds for the whole response and between two parts of it, from ``_request_timeout``.

    There is no limit by default, as in the library. The limit of a tuple's first value, for the connection, is the
    transport's own.
    """
    match request_timeout:
        case aiohttp.ClientTimeout():
            return request_timeout.total, request_timeout.sock_read
        case (_, read):
            return None, read
        case int() | float():
            return request_timeout or None, None
        case _:
            return None, None


def _checked(answer: CompleteResponse | StreamedResponse, body: bytes) -> Any:
    """Return a response with its body. Raises ApiException for an error of the server."""
    response: Any = RESTResponse(answer, body)  # type: ignore[arg-type]  # has what is read of an aiohttp response
    if 200 <= answer.status <= 299:
        return response
    error = ApiException(http_resp=response)
    denied = forbidden_log.get() if answer.status == HTTPStatus.FORBIDDEN else None
    if denied is not None and isinstance(mapped := from_api_exception(error), Forbidden):
        denied.append(mapped)
    raise error


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
