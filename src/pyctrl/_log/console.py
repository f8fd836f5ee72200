"""Console format of log lines, for people."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from pyctrl._log.escaping import indented, message_lines, printable, traceback_lines
from pyctrl._log.fields import context_of, error_of, extra_of, in_words
from pyctrl._log.timestamps import TimeEncoding, encode_time

__all__ = ["ConsoleFormatter"]

DIM = "\033[2m"
RESET = "\033[0m"
_COLOURS = {
    logging.INFO: "\033[32m",
    logging.WARNING: "\033[33m",
    logging.ERROR: "\033[31m",
    logging.CRITICAL: "\033[1;31m",
}
#: Fields that are left out, because the name of the controller or webhook is shown.
_OMITTED = {"controllerGroup", "controllerKind", "webhookGroup"}
#: Context fields that are shown as ``object``, or only by the lines about them ("Reconciling", errors).
_SHOWN_OTHERWISE = {"namespace", "name", "causes"}
_ID_LENGTH = 8  # characters of an id: enough to find the lines of one reconcile
_IDS = {"reconcileID", "requestID"}


class ConsoleFormatter(logging.Formatter):
    """Formats a record as one line: time, level, logger, message, and fields as ``key=value``; optionally coloured.

    The line's own fields come first, then those of its context: ``object=default/web controller=podset
    reconcileID=993fcadd``. Redundant fields are left out, ids are shortened and long values cut; `JsonFormatter` has
    all of them in full. A traceback follows its line, indented.

    Every line begins with a time. Line breaks and other control characters in messages, fields and errors are escaped,
    so that text from other sources can neither forge a line nor control the terminal; see `pyctrl._log.Lines`.

    Args:
        is_coloured: whether to use terminal colours.
        time_encoding: the format of the time; by default ``18:02:31.692``, in UTC.
        stacktrace_level: lines of this level and above have the traceback of their error.
    """

    def __init__(
        self,
        *,
        is_coloured: bool = False,
        time_encoding: TimeEncoding | None = None,
        stacktrace_level: int = logging.NOTSET,
    ) -> None:
        super().__init__()
        self._is_coloured = is_coloured
        self._time_encoding = time_encoding
        self._stacktrace_level = stacktrace_level

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by its traceback if any."""
        level = self._paint(f"{_level(record):<7}", _COLOURS.get(record.levelno, ""))
        logger = f"{self._paint(printable(record.name), DIM)}: " if record.name != "root" else ""
        message, *more = message_lines(record)
        line = f"{self._paint(self._time(record), DIM)} {level} {logger}{message}"
        has_trace = record.levelno >= self._stacktrace_level
        error = error_of(record) if "error" in vars(record) or not has_trace else ""  # otherwise the traceback shows it
        extra = extra_of(record)
        if "error" in extra or error:
            extra |= {"error": error if error not in record.getMessage() else None}
        own, work = _fields(extra), _fields(_work(context_of(record)))
        fields = [f"{self._paint(key, DIM)}={in_words(value)}" for key, value in own.items()]
        fields += [self._paint(f"{key}={in_words(value)}", DIM) for key, value in work.items() if own.get(key) != value]
        parts = [f"{line}  {' '.join(fields)}" if fields else line, *more]  # further lines may be commands to copy
        if record.exc_info and record.exc_info[1] is not None and has_trace:
            parts += traceback_lines(record.exc_info[1])
        if record.stack_info:
            parts += indented(record.stack_info.split("\n"))
        return "\n".join(parts)

    def _time(self, record: logging.LogRecord) -> str:
        if self._time_encoding is not None:
            return str(encode_time(record.created, self._time_encoding))
        return datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{RESET}" if self._is_coloured and colour else text


def _level(record: logging.LogRecord) -> str:
    """Return the name of a level; levels below DEBUG are named by their distance, such as DEBUG-1."""
    return f"DEBUG-{logging.DEBUG - record.levelno}" if record.levelno < logging.DEBUG else record.levelname


def _fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Drop redundant and empty fields, and join the words of keys such as controller-runtime's "worker count"."""
    kept = {key: value for key, value in fields.items() if key not in _OMITTED and value not in (None, "", (), [], {})}
    return {printable(key.replace(" ", "_")): value for key, value in kept.items()}


def _work(context: Mapping[str, object]) -> dict[str, object]:
    """Return the context fields to show: the object as one field, and the others with shortened ids."""
    namespace, name = context.get("namespace"), context.get("name")
    work: dict[str, object] = {"object": f"{namespace}/{name}" if namespace and name else name or None}
    if namespace and not name:
        work["namespace"] = namespace
    work |= {key: value for key, value in context.items() if key not in _SHOWN_OTHERWISE}
    work |= {key: str(work[key])[:_ID_LENGTH] for key in _IDS if key in work}
    return work
