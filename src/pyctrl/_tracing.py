"""Tracing protocols, and `enable_tracing`, which implements them with OpenTelemetry.

OpenTelemetry is not imported, and no span is created, before `enable_tracing` is called; until then
`active` is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pyctrl.errors import PyctrlError

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["Attributes", "Span", "Tracing", "active", "enable_tracing"]

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str]]


class Span(Protocol):
    """A span in progress."""

    @property
    def ids(self) -> Mapping[str, str]:
        """``trace_id`` and ``span_id`` in hexadecimal, for log lines; empty if the span is not recorded."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Request headers that make the server's spans children of this one."""
        ...

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        ...

    def fail(self, kind: str, error: BaseException | None = None) -> None:
        """Mark the span as failed, with a kind of low cardinality and the exception."""
        ...


class Tracing(Protocol):
    """Creates spans."""

    def span(
        self, name: str, attributes: Attributes, *, is_call: bool = False, waited: timedelta | None = None
    ) -> AbstractContextManager[Span]:
        """Record a block as a span, as a child of the current one.

        Args:
            name: the name, of low cardinality: no names of objects.
            attributes: the initial attributes.
            is_call: whether the span is a request to a server (kind CLIENT).
            waited: the time in the queue before, which is recorded as a span ``queue``.
        """
        ...


#: The tracing in use; None while it is off. Read it as an attribute of this module, at each use:
#: `from pyctrl._tracing import active` keeps the value of the moment of the import.
active: Tracing | None = None


def enable_tracing(provider: TracerProvider | None = None) -> Callable[[], None]:
    """Record reconciles, their time in the queue, and requests to API servers as OpenTelemetry spans.

    Applies to the whole process; call the returned function to stop. The provider decides which spans are sampled and
    where they are exported.

    Args:
        provider: the tracer provider; by default OpenTelemetry's global one.

    Raises:
        PyctrlError: OpenTelemetry's API is not installed.
    """
    global active
    try:
        from pyctrl._opentelemetry import OpenTelemetryTracing  # here: it is an extra, and slow to import
    except ImportError as error:
        raise PyctrlError("enable_tracing needs OpenTelemetry's API: pip install 'pyctrl-runtime[tracing]'") from error
    before, active = active, OpenTelemetryTracing(provider)
    return lambda: _restore(before)


def _restore(before: Tracing | None) -> None:
    global active
    active = before
