"""Set up the logging of a whole program."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from pyctrl._log.console import ConsoleFormatter
from pyctrl._log.json_formatter import JsonFormatter
from pyctrl._log.options import LogOptions

__all__ = ["configure_logging"]


def configure_logging(options: LogOptions | int | str = LogOptions(), *, stream: TextIO | None = None) -> None:  # noqa: B008 (frozen)
    """Show pyctrl's log lines, and those of the program, for examples and whole programs.

    Sets up the root logger, and the levels of those loggers that are named; called again, the last call counts, and
    each line is shown once. Handlers of others stay as they are.

    Args:
        options: how logs look and how much they tell; only a level (as `logging` has it, or as text) is that level.
        stream: where they go; by default where they went before, at first stderr.

    Raises:
        ValueError: the text is no level.
    """
    if isinstance(options, str):
        options = LogOptions(log_level=options)
    level, chosen = (options, LogOptions()) if isinstance(options, int) else (options.level, options)
    root = logging.getLogger()
    before = [handler for handler in root.handlers if isinstance(handler.formatter, ConsoleFormatter | JsonFormatter)]
    for handler in before:
        root.removeHandler(handler)
        stream = stream or (handler.stream if isinstance(handler, logging.StreamHandler) else None)
    root.addHandler(chosen.handler(sys.stderr if stream is None else stream))
    root.setLevel(level)
    _set_levels(chosen)


#: Loggers whose level an earlier call has set, and what it was before.
_before: dict[str, int] = {}


def _set_levels(options: LogOptions) -> None:
    for name, level in _before.items():
        logging.getLogger(name).setLevel(level)
    _before.clear()
    for name, level in options.levels.items():
        _before[name] = logging.getLogger(name).level
        logging.getLogger(name).setLevel(level)
