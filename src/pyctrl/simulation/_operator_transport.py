"""The operator's end of its connection: notes what it sends and receives, and lets faults happen there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl._log import current_log_context
from pyctrl._stack_frames import own_line, stack_of
from pyctrl.api import RequestTarget
from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, RequestTimeout, TransportError
from pyctrl.simulation._event_filter import BehindFilter, EventFilter
from pyctrl.simulation._history import Listed, ObjectId, Read, Sent
from pyctrl.simulation._network import NetworkLink
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Point
from pyctrl.testing import Answered

if TYPE_CHECKING:
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._world import World

__all__ = ["OperatorTransport", "note_answer", "running_line", "running_reconcile"]

#: Resources whose writes are no points: votes, records for people, and questions.
NOT_POINTS = frozenset({"leases", "events"})
REVIEWS = frozenset({"authorization.k8s.io", "authentication.k8s.io"})

_ANSWERS = {
    FaultKind.CONFLICT: Answered(status=409, reason="Conflict", message="the object has been modified (simulation)"),
    FaultKind.TOO_MANY_REQUESTS: Answered.too_many_requests(retry_after=1),
    FaultKind.INTERNAL_ERROR: Answered(status=500, reason="InternalError", message="an internal error (simulation)"),
}


class OperatorTransport:
    """`Transport` of one process of the operator.

    Args:
        behind: A version and seconds of virtual time: lists and watches show the server's state at this version for as
            long as that, as from an API server whose watch cache is behind.
    """

    def __init__(
        self, world: World, process: Process, link: NetworkLink, *, behind: tuple[int, float] | None = None
    ) -> None:
        self._world, self._process, self._link = world, process, link
        self._behind: int | None = None
        self._behind_until = 0.0
        if behind is not None:
            self._behind, self._behind_until = behind[0], asyncio.get_running_loop().time() + behind[1]

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""

    # -- requests ----------------------------------------------------------------------------------------------

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request, unless a fault prevents it."""
        target = RequestTarget.parse(request.path)
        if target is None or target.group in REVIEWS:
            return await self._link.exchange(request)
        query = dict(request.query)
        verb = target.verb(request.method, query)
        if target.resource == "leases" and self._world.faults.is_lease_link_cut(self._process):
            await asyncio.sleep(0.01)
            raise ConnectionFailed(f"simulation: no connection for {request}")
        if verb in ("get", "list"):
            return await self._read(request, target, verb)
        if target.resource in NOT_POINTS:
            return await self._link.exchange(request)
        if verb == "patch" and "apply-patch" in request.headers.get("Content-Type", ""):
            verb = "apply"
        return await self._write(request, target, verb, is_dry_run="dryRun" in query)

    async def _read(self, request: HttpRequest, target: RequestTarget, verb: str) -> HttpResponse:
        name = _resource_of(target)
        if verb == "list":
            point, faults = self._world.injector.reached(Occasion.LIST, name, self._process.name)
            response = await self._faulty(request, faults)
            if response is None:
                response = await self._link.exchange(self._as_seen(request, query_of(request)))
            self._world.note(_listed(self._process, point, name, target, response.status))
            return response
        response = await self._link.exchange(request)
        self._world.note(
            Read(
                process=self._process.name,
                target=ObjectId(name, target.namespace, target.name),
                status=response.status,
                reconcile=running_reconcile(),
                line=running_line(),
            )
        )
        return response

    async def _write(self, request: HttpRequest, target: RequestTarget, verb: str, *, is_dry_run: bool) -> HttpResponse:
        world, process = self._world, self._process
        body = _decoded(request.body)
        identity = _identity(target, body)
        name = world.stable_name(identity, body if verb == "create" else None)
        suffix = f"/{target.subresource}" if target.subresource else ""
        what = f"{verb} {identity.resource}{suffix} {name}"
        point, faults = Point(Occasion.WRITE, what, 0), tuple[Fault, ...]()
        if not is_dry_run:
            point, faults = world.injector.reached(Occasion.WRITE, what, process.name)
        sent = Sent(
            process=process.name,
            point=point,
            verb=verb,
            target=identity,
            subresource=target.subresource,
            body=body,
            reconcile=running_reconcile(),
            line=running_line(),
            is_dry_run=is_dry_run,
        )
        kinds = {fault.kind for fault in faults}
        if FaultKind.CRASH_BEFORE in kinds:
            process.kill()
            await _for_ever()
        for fault in faults:
            world.faults.apply(fault, process)
        try:
            response = await self._faulty(request, faults)
            if response is None:
                response = await self._carried(request, sent, kinds)
        except TransportError as error:
            sent.reason = type(error).__name__
            world.note(sent)
            raise
        note_answer(sent, response)
        world.note(sent)
        self._after_answer(faults)
        return response

    async def _carried(self, request: HttpRequest, sent: Sent, kinds: set[FaultKind]) -> HttpResponse:
        """Let the server execute a write; the process may die while it is under way."""
        world, process = self._world, self._process
        if FaultKind.CRASH_DURING not in kinds and FaultKind.TIME_TRAVEL not in kinds:
            return await self._link.exchange(request, sent, lose_answer=FaultKind.ANSWER_LOST in kinds)
        behind = world.faults.behind() if FaultKind.TIME_TRAVEL in kinds else None

        def executed(response: HttpResponse) -> None:
            sent.status, sent.answer, sent.reason = response.status, _decoded(response.body), "the process died"
            world.note(sent)
            process.kill(behind=behind)

        return await self._link.exchange(request, sent, executed=executed)

    def _after_answer(self, faults: tuple[Fault, ...]) -> None:
        """Kill or freeze the process as soon as it has the answer of a write."""
        for fault in faults:
            if fault.kind is FaultKind.CRASH_AFTER:
                # two iterations later: the first one hands the answer to the reconciler
                self._world.call_soon(lambda: self._world.call_soon(self._process.kill))
            elif fault.kind is FaultKind.FREEZE:
                self._process.freeze(fault.seconds)

    async def _faulty(self, request: HttpRequest, faults: tuple[Fault, ...]) -> HttpResponse | None:
        """Return the answer of a fault that replaces the server's, or None."""
        for fault in faults:
            if fault.kind is FaultKind.TIMEOUT:
                await self._link.travel()
                async with _timeout(request):
                    await _for_ever()
            if (answered := _ANSWERS.get(fault.kind)) is not None:
                await self._link.travel()
                await self._link.travel()
                return HttpResponse(status=answered.status, headers=answered.headers, body=answered.body)
        return None

    # -- streams -----------------------------------------------------------------------------------------------

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Open a watch whose events are points."""
        return self._stream(request, idle_timeout)

    @asynccontextmanager
    async def _stream(self, request: HttpRequest, idle_timeout: float | None) -> AsyncIterator[HttpStream]:
        target = RequestTarget.parse(request.path)
        if target is None:
            async with self._link.stream(request, _PassAll(), idle_timeout=idle_timeout) as plain:
                yield plain
            return
        name, query = _resource_of(target), query_of(request)
        self._world.faults.raise_if_hidden(name, self._process, request)
        point, faults = self._world.injector.reached(Occasion.LIST, name, self._process.name)
        answer = await self._faulty(request, faults)
        if answer is not None:
            self._world.note(_listed(self._process, point, name, target, answer.status))
            yield _Answer(answer)
            return
        filter_: EventFilter = EventFilter(self._world, self._process, name, is_initial="sendInitialEvents" in query)
        if self._is_behind and query.get("watch") == "true":
            filter_ = BehindFilter(self._world, self._process, name, until=self._behind_until)
            if "sendInitialEvents" in query:
                # kube-apiserver without the feature WatchList refuses so; the reflector lists and watches instead
                yield _Answer(_NO_STREAMING)
                return
        async with self._link.stream(self._as_seen(request, query), filter_, idle_timeout=idle_timeout) as stream:
            self._world.note(_listed(self._process, point, name, target, stream.status))
            yield stream

    @property
    def _is_behind(self) -> bool:
        return self._behind is not None and asyncio.get_running_loop().time() < self._behind_until

    def _as_seen(self, request: HttpRequest, query: dict[str, str]) -> HttpRequest:
        """Return a list as it is sent: at an older version from a server that is behind."""
        if not self._is_behind or query.get("watch") == "true":
            return request
        kept = [(name, value) for name, value in request.query if not name.startswith("resourceVersion")]
        exact = (("resourceVersion", str(self._behind)), ("resourceVersionMatch", "Exact"))
        return HttpRequest(
            method=request.method,
            path=request.path,
            query=(*kept, *exact),
            headers=request.headers,
            timeout=request.timeout,
            head_timeout=request.head_timeout,
        )


_NO_STREAMING = HttpResponse(
    status=422,
    headers=Headers([("Content-Type", "application/json")]),
    body=json.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": "Invalid",
            "code": 422,
            "message": "ListOptions is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch",
        }
    ).encode(),
)


def note_answer(sent: Sent, response: HttpResponse) -> None:
    """Note the answer to a write, and the name that the server generated."""
    answer = _decoded(response.body)
    sent.status, sent.answer = response.status, answer
    if not isinstance(answer, dict):
        return
    if response.status >= 400:
        sent.reason = answer.get("reason", "")
    elif answer.get("kind") != "Status" and (name := (answer.get("metadata") or {}).get("name")):
        sent.target = ObjectId(sent.target.resource, sent.target.namespace, name)


class _Answer:
    """`HttpStream` of a fixed response."""

    def __init__(self, response: HttpResponse) -> None:
        self.status, self.headers, self._body = response.status, response.headers, response.body

    async def read(self) -> bytes:
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body


class _PassAll:
    def connect(self, push: Callable[[bytes], None]) -> None: ...

    async def pass_line(self, line: bytes) -> list[bytes]:
        return [line]


def query_of(request: HttpRequest) -> dict[str, str]:
    """Return the first value of each query parameter."""
    return dict(reversed(request.query))


def running_line() -> str:
    """Return the innermost line of the user's program on the stack, ``FILE:LINE``, or ""."""
    import sys

    line = own_line(stack_of(sys._getframe(1)))
    return "" if line is None else f"{line.shown_file}:{line.line}"


def running_reconcile() -> str:
    """Return the controller and the object of the running reconcile, ``CONTROLLER NAMESPACE/NAME``, or ""."""
    facts = current_log_context()
    if "controller" not in facts:
        return ""
    key = "/".join(str(facts[part]) for part in ("namespace", "name") if facts.get(part))
    return f"{facts['controller']} {key}"


def _resource_of(target: RequestTarget) -> str:
    return f"{target.resource}.{target.group}" if target.group else target.resource


def _identity(target: RequestTarget, body: Any) -> ObjectId:
    name = target.name
    if not name and isinstance(body, dict):
        name = (body.get("metadata") or {}).get("name", "")
    return ObjectId(_resource_of(target), target.namespace, name)


def _listed(process: Process, point: Point, name: str, target: RequestTarget, status: int) -> Listed:
    return Listed(process=process.name, point=point, resource=name, namespace=target.namespace, status=status)


def _decoded(body: bytes | None) -> Any:
    if not body:
        return None
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None


async def _for_ever() -> Any:
    await asyncio.get_running_loop().create_future()


@asynccontextmanager
async def _timeout(request: HttpRequest) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(request.timeout):
            yield
    except TimeoutError as error:
        raise RequestTimeout(f"simulation: no answer to {request}") from error
