"""Structured logging on top of `logging`: context fields, a console and a JSON format, and sampling.

pyctrl logs through ``logging.getLogger("pyctrl.…")`` with short constant messages and additional fields. Importing
pyctrl does not configure logging. Fields come from two places: ``extra={…}`` of one call, and `log_context`, which
adds fields to every line logged in a block, by any logger. The controller uses it around each reconcile, with
controller-runtime's keys (controller, controllerGroup, controllerKind, namespace, name, reconcileID) and the causes.

`configure_logging` sets up logging according to `LogOptions`: for people on a console, or as JSON with the keys of
controller-runtime's production encoder.

Formatters and handlers are imported on first use, as a program may configure logging itself.
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

if not TYPE_CHECKING:  # to a type checker, __getattr__ would mean that every name exists
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
