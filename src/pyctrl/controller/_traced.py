"""One attempt to reconcile as a span, for programs that trace: `pyctrl.enable_tracing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyctrl._log import current_log_context, log_context
from pyctrl._tracing import Attributes, Tracing
from pyctrl.controller._turn import Failed, GivenUp, Succeeded, Turn

__all__ = ["traced"]


@contextmanager
def traced(tracing: Tracing, turn: Turn) -> Iterator[None]:
    """Make a span of a block that works on ``turn`` and in whose log context it is said which one; tell its outcome."""
    fields = current_log_context()
    name = f"reconcile {fields['controller']}"
    with tracing.span(name, _attributes(fields, turn), waited=turn.waited) as span:
        with log_context(**span.ids):
            yield
        match turn.outcome:
            case Succeeded(requeue_after=after):
                span.set({"pyctrl.result": "success" if after is None else "requeue_after"})
            case Failed(error):
                span.set({"pyctrl.result": "error"})
                span.fail(type(error).__name__, error)
            case GivenUp(error):
                span.set({"pyctrl.result": "terminal_error"})
                span.fail(type(error).__name__, error)


#: The keys of log lines, as attributes: OpenTelemetry's where it has some.
_KEYS = {
    "controller": "pyctrl.controller",
    "controllerGroup": "pyctrl.object.group",
    "controllerKind": "pyctrl.object.kind",
    "namespace": "k8s.namespace.name",
    "name": "pyctrl.object.name",
    "cluster": "k8s.cluster.name",
    "reconcileID": "pyctrl.reconcile_id",
}


def _attributes(fields: Mapping[str, object], turn: Turn) -> Attributes:
    return {
        **{name: str(fields[key]) for key, name in _KEYS.items() if fields.get(key)},
        "pyctrl.priority": turn.priority,
        "pyctrl.failures": turn.failures,
        "pyctrl.queue_wait_seconds": turn.waited.total_seconds(),
        "pyctrl.causes": [str(cause) for cause in turn.causes],
    }
