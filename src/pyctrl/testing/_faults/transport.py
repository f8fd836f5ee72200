"""Transport that injects scripted or random faults. It is deterministic and works in virtual time.

    transport = FaultyTransport(
        InProcessTransport(server),
        [
            Rule(ConnectionRefused(), path="/api/v1/pods", times=3),                    # the first three
            Rule(Silent(lines=10), path="/api/v1/pods", query={"watch": "true"}),  # half open after ten events
            Rule(Answered.conflict(), method="PUT", nth=2),                  # the second update
        ],
    )

Faults are data. Each documents whether the server receives the request: for a write, a lost request and a lost
response are different failures.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.errors import ConnectionFailed, StreamBroken
from pyctrl.testing._faults import streams

if TYPE_CHECKING:
    from pyctrl.testing._faults.random_faults import RandomFaults

__all__ = [
    "AnswerLost",
    "Answered",
    "Broken",
    "ConnectionRefused",
    "Delayed",
    "Ended",
    "Fault",
    "FaultyTransport",
    "Inserted",
    "Repeated",
    "Rule",
    "Silent",
]


@dataclass(frozen=True, slots=True)
class ConnectionRefused:
    """No connection can be made. The server receives nothing; the client gets `ConnectionFailed`."""


@dataclass(frozen=True, slots=True)
class AnswerLost:
    """The connection is reset before the response head. The server has acted; the client gets `StreamBroken`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The connection is reset in the body, after ``lines`` lines and half of the next. The server has acted."""

    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A stream ends cleanly after ``lines`` lines, as when the server's watch timeout expires."""

    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """The connection is half open: a stream yields ``lines`` lines and then nothing, for ever.

    Any other request is never answered, and the server does not receive it.
    """

    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """A stream contains an additional line after its first ``lines`` lines: garbage, or an ERROR event."""

    line: bytes
    lines: int = 0

    @classmethod
    def error_event(cls, status: int, reason: str, message: str = "scripted", *, lines: int = 0) -> Inserted:
        """Return the ERROR event of a watch, such as 410 Expired."""
        event = {"type": "ERROR", "object": _status(status, reason, message)}
        return cls(line=json.dumps(event).encode(), lines=lines)


@dataclass(frozen=True, slots=True)
class Repeated:
    """Each line of a stream is sent twice."""


@dataclass(frozen=True, slots=True)
class Delayed:
    """The whole response of a request, or each line of a stream, is delayed. Timeouts apply."""

    by: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A proxy in between answers with an error. The server receives nothing."""

    status: int
    reason: str
    message: str = "scripted"
    retry_after: int | None = None

    @classmethod
    def conflict(cls) -> Answered:
        """Return 409 Conflict: the object has been modified."""
        return cls(status=409, reason="Conflict")

    @classmethod
    def expired(cls) -> Answered:
        """Return 410 Expired: the resource version is too old."""
        return cls(status=410, reason="Expired")

    @classmethod
    def too_many_requests(cls, *, retry_after: int = 1) -> Answered:
        """Return 429 with Retry-After, in seconds."""
        return cls(status=429, reason="TooManyRequests", retry_after=retry_after)

    @classmethod
    def unavailable(cls, *, retry_after: int | None = None) -> Answered:
        """Return 503, with Retry-After in seconds if given."""
        return cls(status=503, reason="ServiceUnavailable", retry_after=retry_after)

    @property
    def headers(self) -> Headers:
        """The response headers."""
        retry = [] if self.retry_after is None else [("Retry-After", str(self.retry_after))]
        return Headers([("Content-Type", "application/json"), *retry])

    @property
    def body(self) -> bytes:
        """The Status in the response body."""
        details = {} if self.retry_after is None else {"details": {"retryAfterSeconds": self.retry_after}}
        return json.dumps(_status(self.status, self.reason, self.message) | details).encode()


Fault = ConnectionRefused | AnswerLost | Broken | Ended | Silent | Inserted | Repeated | Delayed | Answered

_OF_STREAMS = (Ended, Inserted, Repeated)  # faults that only a stream can have


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault and the requests it applies to: ``times`` of those that match, from the ``nth`` on.

    Args:
        fault: the fault to inject.
        method: GET, PUT, …; None for any.
        path: a glob, such as ``/apis/apps/v1/*``; ``*`` matches slashes too.
        query: parameters that the request must have, such as ``{"watch": "true"}``.
        nth: the first matching request that fails, counted from one.
        times: how many fail; None for all that follow.
    """

    fault: Fault
    method: str | None = None
    path: str = "*"
    query: Mapping[str, str] = field(default_factory=dict)
    nth: int = 1
    times: int | None = 1

    def matches(self, request: HttpRequest, *, streamed: bool) -> bool:
        """Return True if this request matches."""
        return (
            (streamed or not isinstance(self.fault, _OF_STREAMS))
            and self.method in (None, request.method)
            and fnmatchcase(request.path, self.path)
            and self.query.items() <= dict(request.query).items()
        )


@dataclass(slots=True)
class _Counted:
    """A rule, the number of requests it has matched, and whether it has been applied."""

    rule: Rule
    count: int = 0
    used: bool = False

    @property
    def applies(self) -> bool:
        """True if the request counted last fails."""
        past = self.count - self.rule.nth
        return past >= 0 and (self.rule.times is None or past < self.rule.times)


class FaultyTransport:
    """`Transport` that passes requests to ``inner`` unless a fault applies.

    Every rule counts the requests that match it; the first rule in order that applies wins. Rules may be added at any
    time. ``random_faults`` decides for the requests to which no rule applies. ``requests`` lists every request,
    ``befallen`` those that had a fault.
    """

    def __init__(
        self, inner: Transport, rules: Sequence[Rule] = (), *, random_faults: RandomFaults | None = None
    ) -> None:
        self._inner = inner
        self._script = [_Counted(rule) for rule in rules]
        self._random_faults = random_faults
        self.requests: list[HttpRequest] = []
        self.befallen: list[tuple[HttpRequest, Fault]] = []

    def add(self, *rules: Rule) -> None:
        """Add rules. They count requests from now on."""
        self._script += [_Counted(rule) for rule in rules]

    def clear(self) -> None:
        """Remove all rules. Random faults go on: set their `share` to 0.0 to stop them."""
        self._script.clear()

    @property
    def unused(self) -> list[Rule]:
        """The rules that have not applied to any request. A test that expects its faults asserts that it is empty."""
        return [counted.rule for counted in self._script if not counted.used]

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request, or fail as scripted."""
        fault = self._next_fault(request, streamed=False)
        match fault:
            case Answered():
                return HttpResponse(status=fault.status, headers=fault.headers, body=fault.body)
            case Delayed(by=by):
                await _wait(request, by.total_seconds())
            case Silent():
                await streams.forever_silent(request, request.timeout)
        _raise_if_refused(fault, request)
        response = await self._inner.request(request)
        if isinstance(fault, AnswerLost | Broken):
            raise StreamBroken(f"scripted: the response to {request} was lost")
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request whose response is streamed, or fail as scripted."""
        return self._stream(request, idle_timeout)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    @asynccontextmanager
    async def _stream(self, request: HttpRequest, idle_timeout: float | None) -> AsyncIterator[HttpStream]:
        fault = self._next_fault(request, streamed=True)
        if isinstance(fault, Answered):
            yield streams.WholeBody(fault.status, fault.headers, fault.body)
            return
        _raise_if_refused(fault, request)
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            if isinstance(fault, AnswerLost):
                raise StreamBroken(f"scripted: the response to {request} was lost")
            if fault is None:
                yield stream
                return
            async with aclosing(streams.FaultyStream(stream, _spoil(fault, request, idle_timeout))) as faulty:
                yield faulty

    def _next_fault(self, request: HttpRequest, *, streamed: bool) -> Fault | None:
        self.requests.append(request)
        counted = [entry for entry in self._script if entry.rule.matches(request, streamed=streamed)]
        for entry in counted:
            entry.count += 1
        chosen = next((entry for entry in counted if entry.applies), None)
        if chosen is not None:
            chosen.used = True
            fault: Fault | None = chosen.rule.fault
        else:
            fault = self._random_faults.draw(request, streamed=streamed) if self._random_faults is not None else None
        if fault is not None:
            self.befallen.append((request, fault))
        return fault


def _raise_if_refused(fault: Fault | None, request: HttpRequest) -> None:
    if isinstance(fault, ConnectionRefused):
        raise ConnectionFailed(f"scripted: no connection for {request}")


def _spoil(fault: Fault, request: HttpRequest, idle_timeout: float | None) -> streams.Spoil:
    match fault:
        case Broken(lines=lines):
            return streams.broken_after(lines, request)
        case Ended(lines=lines):
            return streams.ended_after(lines)
        case Silent(lines=lines):
            return streams.silent_after(lines, request, idle_timeout)
        case Inserted(line=line, lines=lines):
            return streams.with_line(line, lines)
        case Repeated():
            return streams.repeated
        case Delayed(by=by):
            return streams.delayed(by.total_seconds(), request, idle_timeout)
    raise AssertionError(f"{fault} does not spoil a stream")


async def _wait(request: HttpRequest, seconds: float) -> None:
    if request.timeout is not None and seconds >= request.timeout:
        await streams.forever_silent(request, request.timeout)
    await asyncio.sleep(seconds)


def _status(code: int, reason: str, message: str) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
