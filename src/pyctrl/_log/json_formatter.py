"""JSON format of log lines, with the keys of controller-runtime's zap encoder."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from pyctrl._log.fields import context_of, error_of, extra_of, in_json
from pyctrl._log.timestamps import TimeEncoding, encode_time

__all__ = ["JsonFormatter"]

#: zap's names; "panic" is its level above error that can be configured.
_LEVELS = ((logging.CRITICAL, "panic"), (logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))
_HEAD = ("level", "ts", "logger", "msg")


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object: ``level``, ``ts``, ``logger``, ``msg``, the context's fields, its own.

    As in controller-runtime's production mode, an error is in ``error`` and its traceback in ``stacktrace``, so that
    messages stay constant; the object of a reconcile is also under its kind; durations are in seconds. Values that are
    not JSON become text. A field named like one of the first four keys gets the suffix ``_``.

    Args:
        time_encoding: the format of ``ts``.
        stacktrace_level: lines of this level and above have the traceback of their error.
    """

    def __init__(self, *, time_encoding: TimeEncoding = "rfc3339", stacktrace_level: int = logging.NOTSET) -> None:
        super().__init__()
        self._time_encoding = time_encoding
        self._stacktrace_level = stacktrace_level

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        error = error_of(record)
        line: dict[str, object] = {
            "level": next((name for level, name in _LEVELS if record.levelno >= level), "debug"),
            "ts": encode_time(record.created, self._time_encoding),
        }
        if record.name != "root":
            line["logger"] = record.name
        line["msg"] = record.getMessage().removesuffix(f": {error}") if error else record.getMessage()
        context = context_of(record)
        for key, value in (_object(context) | {**context, **extra_of(record)}).items():
            line[f"{key}_" if key in _HEAD else key] = in_json(value)
        if error:
            line["error"] = error
        if trace := self._trace(record):
            line["stacktrace"] = trace
        return json.dumps(line, separators=(",", ":"))

    def _trace(self, record: logging.LogRecord) -> str:
        if record.exc_info and record.levelno >= self._stacktrace_level:
            return self.formatException(record.exc_info)
        return self.formatStack(record.stack_info) if record.stack_info else ""


def _object(context: Mapping[str, object]) -> dict[str, object]:
    """Return the object of a reconcile under its kind, as controller-runtime logs it."""
    kind, name = context.get("controllerKind") or context.get("webhookKind"), context.get("name")
    if not kind or not name:
        return {}
    namespace = {"namespace": context["namespace"]} if context.get("namespace") else {}
    return {str(kind): {"name": name, **namespace}}
