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

from pyctrl._door import opened_by_name
from pyctrl._log._complaints import Complaints
from pyctrl._log._context import LazyFields, LogContextFilter, current_log_context, log_context, log_fields

if TYPE_CHECKING:
    from pyctrl._log._configure import configure_logging
    from pyctrl._log._console import ConsoleFormatter
    from pyctrl._log._escaping import Lines, printable
    from pyctrl._log._json import JsonFormatter
    from pyctrl._log._options import LogOptions

__all__ = [
    "Complaints",
    "ConsoleFormatter",
    "JsonFormatter",
    "LazyFields",
    "Lines",
    "LogContextFilter",
    "LogOptions",
    "configure_logging",
    "current_log_context",
    "log_context",
    "log_fields",
    "printable",
]

_FILES = {
    "ConsoleFormatter": "_console",
    "JsonFormatter": "_json",
    "Lines": "_escaping",
    "LogOptions": "_options",
    "configure_logging": "_configure",
    "printable": "_escaping",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
