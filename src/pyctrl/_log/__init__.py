"""Structured logs on the standard library: fields that belong to a stretch of work, for people and for machines.

pyctrl logs through ``logging.getLogger("pyctrl.…")`` with short constant messages and the facts beside them. Importing
pyctrl configures nothing. Fields come from two places: ``extra={…}`` of one call, and `log_context`, which gives every
line of a block (whoever writes it) the same fields; the controller does that around each reconcile, with
controller-runtime's keys (controller, controllerGroup, controllerKind, namespace, name, reconcileID) and the causes.

`configure_logging` shows it all, as `LogOptions` say: on a console for people, or as JSON with the keys of
controller-runtime's production encoder.

What writes lines is imported when it is used: a program may configure logging by itself.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl._log.context import LazyFields, LogContextFilter, current_log_context, log_context, log_fields
from pyctrl._log.repeated import RepeatedErrors

if TYPE_CHECKING:
    from pyctrl._log.configure import configure_logging
    from pyctrl._log.console import ConsoleFormatter
    from pyctrl._log.escaping import Lines, printable
    from pyctrl._log.json_formatter import JsonFormatter
    from pyctrl._log.options import LogOptions

__all__ = [
    "ConsoleFormatter",
    "JsonFormatter",
    "LazyFields",
    "Lines",
    "LogContextFilter",
    "LogOptions",
    "RepeatedErrors",
    "configure_logging",
    "current_log_context",
    "log_context",
    "log_fields",
    "printable",
]

_FILES = {
    "ConsoleFormatter": "console",
    "JsonFormatter": "json_formatter",
    "Lines": "escaping",
    "LogOptions": "options",
    "configure_logging": "configure",
    "printable": "escaping",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
