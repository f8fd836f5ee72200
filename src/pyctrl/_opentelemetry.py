"""Tracing with OpenTelemetry, an optional dependency. Imported by `pyctrl._tracing.enable_tracing` only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, StatusCode

from pyctrl import _clock

__all__ = ["OpenTelemetryTracing"]

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str]]  # as in pyctrl._tracing, which imports this

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OpenTelemetryTracing:
    """Creates spans with the tracer ``pyctrl`` of a provider. Times are those of `pyctrl._clock`, also virtual ones."""

    def __init__(self, provider: trace.TracerProvider | None) -> None:
        self._tracer = trace.get_tracer("pyctrl", tracer_provider=provider)

    @contextmanager
    def span(
        self, name: str, attributes: Attributes, *, is_call: bool = False, waited: timedelta | None = None
    ) -> Iterator[OpenTelemetrySpan]:
        """Record a block as a span; an exception that leaves it is its failure, unless `fail` was called."""
        began = _clock.now()
        kind = SpanKind.CLIENT if is_call else SpanKind.INTERNAL
        span = self._tracer.start_span(name, kind=kind, attributes=dict(attributes), start_time=_nanoseconds(began))
        recorded = OpenTelemetrySpan(span)
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                if waited is not None:
                    self._queue_span(began, waited)
                yield recorded
        except BaseException as error:
            if not recorded.has_failed:
                recorded.fail(type(error).__qualname__, error)
            raise
        finally:
            span.end(end_time=_nanoseconds(_clock.now()))

    def _queue_span(self, until: datetime, waited: timedelta) -> None:
        """Record the time in the queue as a child span that ends where its parent begins."""
        self._tracer.start_span("queue", start_time=_nanoseconds(until - waited)).end(end_time=_nanoseconds(until))


class OpenTelemetrySpan:
    """A span in progress."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self.has_failed = False

    @property
    def ids(self) -> Mapping[str, str]:
        """The trace and span id in hexadecimal, named as in OpenTelemetry's logs; empty if the span is not recorded."""
        context = self._span.get_span_context()
        if not self._span.is_recording():
            return {}
        return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the global propagators, by default ``traceparent``."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier, trace.set_span_in_context(self._span))
        return carrier

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        self._span.set_attributes(dict(attributes))

    def fail(self, kind: str, error: BaseException | None = None) -> None:
        """Set the error status and the attribute ``error.type``, and record an exception."""
        self.has_failed = True
        self._span.set_attribute("error.type", kind)
        if error is None:
            self._span.set_status(StatusCode.ERROR)
            return
        self._span.set_status(StatusCode.ERROR, f"{type(error).__name__}: {error}")
        self._span.record_exception(error, timestamp=_nanoseconds(_clock.now()))


def _nanoseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1) * 1000
