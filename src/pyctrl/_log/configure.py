"""Logging setup of a program."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from pyctrl._log.console import ConsoleFormatter
from pyctrl._log.json_formatter import JsonFormatter
from pyctrl._log.options import LogOptions

__all__ = ["configure_logging"]


def configure_logging(options: LogOptions | int | str = LogOptions(), *, stream: TextIO | None = None) -> None:  # noqa: B008 (frozen)
    """Set up logging for a program: one handler on the root logger, and the levels of named loggers.

    A second call replaces the settings of the first. Handlers that were not added by this function are kept.

    Args:
        options: format and levels; or only a level, as a number of `logging` or as text.
        stream: the output; by default that of an earlier call, at first stderr.

    Raises:
        ValueError: the text is not a level.
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


#: The previous levels of the loggers whose level an earlier call has set.
_before: dict[str, int] = {}


def _set_levels(options: LogOptions) -> None:
    for name, level in _before.items():
        logging.getLogger(name).setLevel(level)
    _before.clear()
    for name, level in options.levels.items():
        _before[name] = logging.getLogger(name).level
        logging.getLogger(name).setLevel(level)
