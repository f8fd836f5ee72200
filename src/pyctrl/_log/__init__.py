"""Structured logs on the standard library: fields that belong to a stretch of work, for people and for machines.

pyctrl logs through ``logging.getLogger("pyctrl.…")`` with short constant messages and the facts beside them. Importing
pyctrl configures nothing. Fields come from two places: ``extra={…}`` of one call, and `log_context`, which gives every
line of a block (whoever writes it) the same fields; the controller does that around each reconcile, with
controller-runtime's keys (controller, controllerGroup, controllerKind, namespace, name, reconcileID) and the causes.

`configure_logging` shows it all, as `LogOptions` say: on a console for people, or as JSON with the keys of
controller-runtime's production encoder.
"""

from ._complaints import Complaints
from ._configure import configure_logging
from ._console import ConsoleFormatter
from ._context import LazyFields, LogContextFilter, current_log_context, log_context, log_fields
from ._json import JsonFormatter
from ._options import LogOptions

__all__ = [
    "Complaints",
    "ConsoleFormatter",
    "JsonFormatter",
    "LazyFields",
    "LogContextFilter",
    "LogOptions",
    "configure_logging",
    "current_log_context",
    "log_context",
    "log_fields",
]
