"""REST client: sends requests, retries those that `RetryPolicy` allows, and raises API errors."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.client._transport.instrumented import NO_ANSWER, InstrumentedTransport
from pyctrl.client._transport.leader_gate import send_gated, write_gates
from pyctrl.client._transport.retry import Retries, RetryPolicy, retry_after
from pyctrl.client._transport.transport import HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ApiError, Forbidden, TransportError, error_from_status

__all__ = [
    "NOT_MODIFIED",
    "RESTClient",
    "ServerWarning",
    "WarningHandler",
    "WarningLog",
    "error_from_response",
    "forbidden_log",
    "live_reads",
    "log_warning",
    "note_live_read",
]


log = logging.getLogger("pyctrl.client")

# RFC 7234 5.5: code, agent, quoted text; 299 is the only code that API servers send
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
NOT_MODIFIED = 304
#: A whole object as the value of a field in an error, quoted as in Go. Kubernetes' own redaction text replaces it.
_PATCHED_OBJECT = re.compile(r'Invalid value: "(?:[{\[]|map\[)(?:[^"\\]|\\.)*"', re.DOTALL)
_REDACTED = 'Invalid value: "<secret contents redacted>"'
_MAX_BODY_SHOWN = 300  # characters of a body that is not a Status: enough for a proxy's message, without its whole page
_MAX_REMEMBERED_WARNINGS = 1000  # texts; warnings about unknown fields name the field, so their number is unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerWarning:
    """A warning of the server: a deprecated version, an unknown field, a policy that would deny the request."""

    text: str
    request: str


WarningHandler: TypeAlias = Callable[[ServerWarning], None]


def log_warning(warning: ServerWarning) -> None:
    """Log a warning of the server, each time."""
    log.warning("Warning from the API server: %s", warning.text, extra={"request": warning.request})


class WarningLog:
    """Warning handler that logs each text once. It is a client's default.

    A watch of a deprecated kind is reopened every few minutes and has the same warning each time.
    """

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def __call__(self, warning: ServerWarning) -> None:
        if warning.text in self._logged:
            return
        if len(self._logged) >= _MAX_REMEMBERED_WARNINGS:
            self._logged.clear()
        self._logged.add(warning.text)
        log_warning(warning)


class RESTClient:
    """Client that sends requests and returns successful responses. Errors name ``cluster`` if it is set."""

    def __init__(
        self,
        transport: InstrumentedTransport,
        *,
        retries: RetryPolicy | None = None,
        random: Random | None = None,
        on_warning: WarningHandler | None = None,
        cluster: str = "",
    ) -> None:
        self.cluster = cluster
        self._transport = transport
        self._policy = retries or RetryPolicy()
        self._random = random or Random()
        self._on_warning = on_warning or WarningLog()

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request. 304 is a success: only a request with an entity tag gets it.

        Raises:
            ApiError: the server returned an error; the class depends on its reason.
            TransportError: there was no complete response.
            NotLeading: the request is a write of work that needs leader election, and the lease has expired.
        """
        note_live_read(request)
        response = await self._send_with_retries(request)
        self._pass_on_warnings(request, response)
        if response.status >= 300 and response.status != NOT_MODIFIED:
            raise error_from_response(request, response, response.body, cluster=self.cluster)
        return response

    async def _send_with_retries(self, request: HttpRequest) -> HttpResponse:
        retries: Retries | None = None
        while True:
            code, send = NO_ANSWER, self._transport.request
            try:
                # gates are checked before each attempt: the wait may have outlasted the lease
                response = await (send_gated(send, request) if write_gates.get() else send(request))
            except TransportError as error:
                retries = retries or Retries(self._policy, self._random)
                seconds = retries.after_error(request, error)
                if seconds is None:
                    raise
                log.debug("Connection failed, retrying", extra={"request": str(request), "seconds": seconds})
            else:
                if response.status != 429 and response.status < 500:
                    return response
                retries = retries or Retries(self._policy, self._random)
                seconds = retries.after_answer(response)
                if seconds is None:
                    return response
                code = str(response.status)
                log.debug("Server sent Retry-After, retrying", extra={"request": str(request), "seconds": seconds})
            await asyncio.sleep(seconds)
            self._transport.retried(request, code)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request. The body of a successful response can be read inside the block.

        Raises as `send` does. Streams are not retried: their readers resume them.
        """
        note_live_read(request)
        async with self._transport.stream(request, idle_timeout=idle_timeout) as stream:
            self._pass_on_warnings(request, stream)
            if stream.status >= 300:
                raise error_from_response(request, stream, await stream.read(), cluster=self.cluster)
            yield stream

    def _pass_on_warnings(self, request: HttpRequest, response: HttpResponse | HttpStream) -> None:
        for header in response.headers.get_all("Warning"):
            for text in _WARNING.findall(header):
                self._on_warning(ServerWarning(text=re.sub(r"\\(.)", r"\1", text), request=str(request)))


def error_from_response(
    request: HttpRequest, response: HttpResponse | HttpStream, body: bytes, *, cluster: str = ""
) -> ApiError:
    """Return the error of a failed response with any body.

    An error with the ``reason`` "" does not come from a resource of the API server: an unknown path, a proxy.
    """
    request_text = f"{request} in cluster {cluster!r}" if cluster else str(request)
    status = _parse_status(body, response)
    if "secrets" in request.path.split("/"):
        status = _redact_values(status)
    error = error_from_status(
        status, http_code=response.status, request=request_text, retry_after=retry_after(response)
    )
    error.cluster = cluster
    if isinstance(error, Forbidden) and (denied := forbidden_log.get()) is not None:
        denied.append(error)
    return error


def _redact_values(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove from a Status the whole object that kube-apiserver quotes if its patch does not decode."""
    found, details = dict(status), status.get("details")
    found["message"] = _PATCHED_OBJECT.sub(_REDACTED, str(status.get("message") or ""))
    if isinstance(details, Mapping) and isinstance(causes := details.get("causes"), list):
        shown = [{**each, "message": _PATCHED_OBJECT.sub(_REDACTED, str(each.get("message", "")))} for each in causes]
        found["details"] = {**details, "causes": shown}
    return found


def _parse_status(body: bytes, response: HttpResponse | HttpStream) -> Mapping[str, Any]:
    try:
        document = msgspec.json.decode(body)
    except UNREADABLE:
        document = None
    if isinstance(document, dict) and document.get("kind") == "Status":
        return document
    text = " ".join(body[: _MAX_BODY_SHOWN * 4].decode("utf-8", "replace").split())[:_MAX_BODY_SHOWN]
    if not text or "html" in response.headers.get("Content-Type", ""):
        text = "an HTML page, not an API response" if text else "an empty body"
    return {"message": f"the server answered {response.status}: {text}"}


#: A list that collects the requests of this task, and of the tasks that it starts, that read objects from the server;
#: None to collect none. The code that sets it empties it.
live_reads: ContextVar[list[str] | None] = ContextVar("pyctrl_live_reads", default=None)


def note_live_read(request: HttpRequest) -> None:
    """Add a request to `live_reads` if it reads objects, not only what the server serves."""
    if request.method == "GET" and (found := live_reads.get()) is not None and not _is_discovery(request.path):
        found.append(str(request))


def _is_discovery(path: str) -> bool:
    first, *rest = path.strip("/").split("/")
    return first in ("openapi", "version") or (first, len(rest)) in _DISCOVERY


_DISCOVERY = frozenset({("api", 0), ("api", 1), ("apis", 0), ("apis", 1), ("apis", 2)})

#: A list that collects each Forbidden of this task's requests and of the tasks that it starts; None to collect none.
#: The code that sets it empties it.
forbidden_log: ContextVar[list[Forbidden] | None] = ContextVar("pyctrl_refusals", default=None)
