"""The seam to OpenTelemetry: what pyctrl does becomes spans once a program asks for it, and costs nothing before.

Nothing of OpenTelemetry is imported until `enable_tracing` is called; until then `current_tracing` is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pyctrl.errors import PyctrlError

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["Attributes", "Span", "Tracing", "active", "current_tracing", "enable_tracing"]

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str]]


class Span(Protocol):
    """Something that is going on."""

    @property
    def ids(self) -> Mapping[str, str]:
        """``trace_id`` and ``span_id`` in hexadecimal, for the lines of a log; empty when it is not recorded."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What a request carries so that its server's spans belong to this one."""
        ...

    def set(self, attributes: Attributes) -> None:
        """Add what is known only now."""
        ...

    def fail(self, kind: str, error: BaseException | None = None) -> None:
        """Say that it has failed: the kind of failure, one of few, and what was raised."""
        ...


class Tracing(Protocol):
    """Makes spans."""

    def span(
        self, name: str, attributes: Attributes, *, is_call: bool = False, waited: timedelta | None = None
    ) -> AbstractContextManager[Span]:
        """Record a block as a span, within the one that is going on.

        Args:
            name: one of few: no names of objects.
            attributes: what is known at the beginning.
            is_call: whether somebody else's server does the work.
            waited: how long it was ready before it began, which is a span of its own, ``queue``.
        """
        ...


#: What makes spans; None while nothing traces. Read it as ``_tracing.active``: it changes.
active: Tracing | None = None


def current_tracing() -> Tracing | None:
    """Return what makes spans, or None when nobody wants any."""
    return active


def enable_tracing(provider: TracerProvider | None = None) -> Callable[[], None]:
    """Record reconciles, their time in the queue, and requests to API servers as OpenTelemetry spans.

    For the whole process, from now on; call the result to stop. Which spans are kept and where they go is the
    provider's business.

    Args:
        provider: makes the tracer; by default OpenTelemetry's global one.

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
