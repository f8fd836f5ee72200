"""Structured logs on the standard library: fields that belong to a stretch of work, and a console that shows them.

pyctrl logs through ``logging.getLogger("pyctrl.…")`` with short constant messages and the facts beside them. Importing
pyctrl configures nothing. Fields come from two places: ``extra={…}`` of one call, and `log_context`, which gives every
line of a block (whoever writes it) the same fields; the controller does that around each reconcile, with
controller-runtime's keys (controller, controllerGroup, controllerKind, namespace, name, reconcileID).
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

__all__ = [
    "ConsoleFormatter",
    "LazyFields",
    "LogContextFilter",
    "configure_logging",
    "current_log_context",
    "log_context",
    "log_fields",
]

_context: ContextVar[Mapping[str, object]] = ContextVar("pyctrl_log_context", default={})  # noqa: B039 (never mutated)
#: The variable behind `log_context`, for who sets it a hundred thousand times a second.
log_fields = _context


class LazyFields(Mapping[str, object]):
    """Fields that are made when a line is logged, if one is; most stretches of work log nothing."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], dict[str, object]]) -> None:
        self._make = make
        self._made: dict[str, object] | None = None

    def _fields(self) -> dict[str, object]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: str) -> object:
        return self._fields()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields())

    def __len__(self) -> int:
        return len(self._fields())


@contextmanager
def log_context(**fields: object) -> Iterator[None]:
    """Give every log line of the block these fields, on top of those that are there already."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def current_log_context() -> Mapping[str, object]:
    """Return the fields that a line logged here would have."""
    return _context.get()


class LogContextFilter(logging.Filter):
    """Put the fields of `log_context` on each record, as ``record.context``. Add it to a handler.

    They are one mapping and not attributes of their own because a record's ``name`` is its logger's, while an
    object's ``name`` is what one wants to read in a log of a controller.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        record.context = _context.get()
        return True


class ConsoleFormatter(logging.Formatter):
    """One line for a person: time, level, logger, message, and the fields as ``key=value``; coloured if asked."""

    def __init__(self, *, is_coloured: bool = False) -> None:
        super().__init__()
        self._is_coloured = is_coloured

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the traceback below it if there is one."""
        time = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        fields = " ".join(f"{self._paint(key, DIM)}={_text(value)}" for key, value in _fields(record).items())
        level = self._paint(f"{record.levelname:<7}", _COLOURS.get(record.levelno, ""))
        logger = self._paint(record.name, DIM)
        message, *more = record.getMessage().split("\n")
        line = f"{self._paint(time, DIM)} {level} {logger}: {message}"
        parts = [f"{line}  {fields}" if fields else line, *more]  # what follows may be there to be copied
        if record.exc_info:
            parts.append(self.formatException(record.exc_info))
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return "\n".join(parts)

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{RESET}" if self._is_coloured and colour else text


def configure_logging(level: int | str = logging.INFO, *, stream: TextIO | None = None) -> None:
    """Show pyctrl's log lines, and those of the program, on a terminal; for examples and small programs.

    Sets up the root logger once; called again it only changes the level. Colours are used on a terminal only, and not
    when ``NO_COLOR`` is set.
    """
    root = logging.getLogger()
    root.setLevel(level)
    if any(isinstance(handler.formatter, ConsoleFormatter) for handler in root.handlers):
        return
    output = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(output)
    handler.addFilter(LogContextFilter())
    handler.setFormatter(ConsoleFormatter(is_coloured=output.isatty() and not os.environ.get("NO_COLOR")))
    root.addHandler(handler)
    logging.getLogger("asyncio").setLevel(logging.INFO)  # its debug lines are about asyncio, not about the program


DIM = "\033[2m"
RESET = "\033[0m"
_COLOURS = {
    logging.INFO: "\033[32m",
    logging.WARNING: "\033[33m",
    logging.ERROR: "\033[31m",
    logging.CRITICAL: "\033[1;31m",
}
#: What every record has; anything else on it came with ``extra``.
_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "context"}


def _fields(record: logging.LogRecord) -> dict[str, object]:
    context: Mapping[str, object] = getattr(record, "context", {})
    extra = {key: value for key, value in vars(record).items() if key not in _OWN}
    return {key: value for key, value in {**context, **extra}.items() if value not in (None, "")}


def _text(value: object) -> str:
    """Return a value as one word if it is one, else quoted."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return "[" + ", ".join(str(item) for item in value) + "]"
    text = str(value)
    return (
        text if text and not any(character.isspace() or character in '"=' for character in text) else json.dumps(text)
    )
