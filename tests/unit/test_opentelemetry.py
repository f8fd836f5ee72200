"""Spans of reconciles, of their time in the queue, and of requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from random import Random

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pyctrl import enable_tracing
from pyctrl._log import current_log_context
from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, InProcessTransport
from pyctrl.client._transport.instrumented import InstrumentedTransport
from pyctrl.controller import Request
from pyctrl.errors import NotFound, StreamBroken, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit._spans import A, B, run
from tests.unit.client._fake_server import FakeServer, Reply


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """The spans that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    stop = enable_tracing(provider)
    yield exporter
    stop()


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def seconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


async def test_a_reconcile_is_a_span_with_its_time_in_the_queue(spans: InMemorySpanExporter) -> None:
    """A reconcile is a span; its time in the queue is another span, which ends where the first begins."""
    contexts = []

    async def reconcile(request: Request) -> None:
        contexts.append(current_log_context())
        await asyncio.sleep(2)

    await run(reconcile, A, B, patience=10)

    first, second = named(spans, "reconcile thing")
    queued = named(spans, "queue")[1]
    assert dict(second.attributes or {}) == {
        "pyctrl.controller": "thing",
        "pyctrl.object.group": "example.com",
        "pyctrl.object.kind": "Thing",
        "k8s.namespace.name": "default",
        "pyctrl.object.name": "b",
        "pyctrl.reconcile_id": contexts[1]["reconcileID"],
        "pyctrl.priority": 7,
        "pyctrl.failures": 0,
        "pyctrl.queue_wait_seconds": 2.0,
        "pyctrl.causes": (),
        "pyctrl.result": "success",
    }
    assert (seconds(first), seconds(second), seconds(queued)) == pytest.approx((2, 2, 2))
    assert queued.end_time == second.start_time
    assert queued.parent is not None
    assert second.context is not None
    assert queued.parent.span_id == second.context.span_id
    assert contexts[1]["trace_id"] == f"{second.context.trace_id:032x}"  # a log line leads to its trace
    assert first.context is not None
    assert first.context.trace_id != second.context.trace_id


async def test_a_reconcile_that_fails_is_a_span_that_failed(spans: InMemorySpanExporter) -> None:
    """The span of a failed reconcile has the exception, and whether it is retried."""

    async def reconcile(request: Request) -> None:
        raise ValueError("no") if request == A else TerminalError("never")

    await run(reconcile, A, B, patience=0.004)

    failed, ended = named(spans, "reconcile thing")[:2]
    assert [(span.attributes or {})["pyctrl.result"] for span in (failed, ended)] == ["error", "terminal_error"]
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.status.description == "ValueError: no"
    assert (failed.attributes or {})["error.type"] == "ValueError"
    [event] = failed.events
    assert (event.attributes or {})["exception.message"] == "no"


async def test_a_request_is_a_span_of_the_reconcile_that_made_it(spans: InMemorySpanExporter) -> None:
    """A request's span has OpenTelemetry's HTTP attributes, a name without objects, and is propagated to the server."""
    server = FakeServer()
    server.reply({"metadata": {"name": "web", "namespace": "default"}})
    client = Client(InProcessTransport(server), server="https://cluster:6443")

    async def reconcile(request: Request) -> None:
        await client.get(ConfigMap, Key("default", "web"))

    await run(reconcile, A)

    [call] = named(spans, "GET /api/v1/namespaces/{namespace}/configmaps/{name}")
    [parent] = named(spans, "reconcile thing")
    assert parent.context is not None
    assert call.parent is not None
    assert call.context is not None
    assert call.parent.span_id == parent.context.span_id
    assert call.kind is SpanKind.CLIENT
    assert dict(call.attributes or {}) == {
        "http.request.method": "GET",
        "url.template": "/api/v1/namespaces/{namespace}/configmaps/{name}",
        "url.full": "https://cluster:6443/api/v1/namespaces/default/configmaps/web",
        "url.scheme": "https",
        "server.address": "cluster",
        "server.port": 6443,
        "k8s.namespace.name": "default",
        "k8s.request.verb": "get",
        "k8s.request.resource": "configmaps",
        "k8s.request.name": "web",
        "http.response.status_code": 200,
    }
    told = server.asked[-1].headers["traceparent"]
    assert told.startswith(f"00-{call.context.trace_id:032x}-{call.context.span_id:016x}-")


async def test_a_refusal_is_a_span_that_failed(spans: InMemorySpanExporter) -> None:
    """The error type of a refused request is its HTTP status, as OpenTelemetry specifies."""
    server = FakeServer()
    server.refuse(404, "NotFound")
    with pytest.raises(NotFound):
        await Client(InProcessTransport(server)).get(ConfigMap, Key("default", "web"))
    [call] = spans.get_finished_spans()
    assert call.status.status_code is StatusCode.ERROR
    assert (call.attributes or {})["error.type"] == "404"
    assert (call.attributes or {})["http.response.status_code"] == 404


async def test_a_request_without_an_answer_is_a_span_that_failed(spans: InMemorySpanExporter) -> None:
    """Each try is a span, so retries are visible."""
    server = FakeServer()
    server.line = [StreamBroken("down"), Reply(body=b'{"metadata": {"name": "web"}}')]
    await Client(InProcessTransport(server), random=Random(1)).get(ConfigMap, Key("default", "web"))
    failed, answered = spans.get_finished_spans()
    assert (failed.attributes or {})["error.type"] == "StreamBroken"
    assert answered.status.status_code is StatusCode.UNSET


async def test_of_a_watch_the_span_ends_with_its_head(spans: InMemorySpanExporter) -> None:
    """The span of a watch ends with the response headers, so that a long watch is not a slow request."""
    server = FakeServer()

    async def lines() -> AsyncIterator[bytes]:
        await asyncio.sleep(300)
        yield b""

    server.reply(lines())
    transport = InstrumentedTransport(InProcessTransport(server))
    query = (("watch", "true"), ("resourceVersion", "5"))
    async with transport.stream(HttpRequest(method="GET", path="/api/v1/pods", query=query, timeout=None)) as stream:
        [opening] = spans.get_finished_spans()
        assert stream.status == 200
    assert (opening.name, seconds(opening)) == ("GET /api/v1/pods", 0)
    assert (opening.attributes or {})["k8s.request.verb"] == "watch"
    assert (opening.attributes or {})["url.full"] == "/api/v1/pods?watch=true&resourceVersion=5"
