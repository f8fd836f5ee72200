"""Log records and their formatted lines."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

from pyctrl._log import ConsoleFormatter, LogContextFilter

AT = datetime(2026, 11, 21, 18, 2, 31, 692_300, UTC)


def make_record(
    message: str, *, level: int = logging.INFO, exc: BaseException | None = None, **extra: object
) -> logging.LogRecord:
    """Return a record of 2026-11-21 18:02:31.6923 UTC with the current context."""
    trace = (type(exc), exc, exc.__traceback__) if exc is not None else None
    record = logging.getLogger("podset").makeRecord("podset", level, "", 0, message, (), trace, extra=extra)
    record.created = AT.timestamp()
    LogContextFilter().filter(record)
    return record


def console(message: str, **fields: object) -> str:
    """Return a line without its time."""
    return ConsoleFormatter().format(make_record(message, **fields)).split(" ", 1)[1]  # type: ignore[arg-type]


def raised(error: Exception) -> Exception:
    """Return an error with a traceback."""
    try:
        raise error
    except type(error):
        caught = sys.exc_info()[1]
    assert isinstance(caught, Exception)
    return caught
