"""Options of logging, with controller-runtime's ``--zap-…`` flags."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, Self, TextIO, TypeVar, get_args

from pyctrl._log.console import ConsoleFormatter
from pyctrl._log.context import LogContextFilter
from pyctrl._log.json_formatter import JsonFormatter
from pyctrl._log.sampling import SamplingHandler
from pyctrl._log.timestamps import TIME_ENCODINGS, TimeEncoding

if TYPE_CHECKING:
    import argparse  # not needed by programs without these flags

__all__ = ["LogOptions"]

T = TypeVar("T")
Encoder = Literal["console", "json"]

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "panic": logging.CRITICAL,
    "critical": logging.CRITICAL,
}
#: asyncio's debug lines are about asyncio itself; ``log_level="debug,asyncio=debug"`` shows them.
_QUIET = {"asyncio": logging.INFO}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Format, levels and sampling of logs. None selects the default of the mode.

    The fields are controller-runtime's flags: ``devel`` is ``--zap-devel``, and so on; see `add_flags`.

    | | ``devel=None`` | ``devel=True`` | ``devel=False`` |
    |---|---|---|---|
    | encoder | console | console | json |
    | log_level | info | debug | info |
    | stacktrace_level | every line with an error | warn | error |
    | sampling | on | off | on |

    The last two columns are controller-runtime's development and production mode.

    Attributes:
        devel: the mode.
        log_level: ``debug``, ``info``, ``warn``, ``error``, ``panic`` or a number: 1 is ``debug``, larger numbers are
            more verbose. After a comma, levels of single loggers and their children:
            ``info,pyctrl.cache=debug,aiohttp=error``.
        encoder: ``console`` for people, ``json`` for machines.
        stacktrace_level: the lowest level at which an error is logged with its traceback; its text always is.
        time_encoding: ``epoch``, ``millis``, ``nano``, ``iso8601``, ``rfc3339`` or ``rfc3339nano``, in UTC. By default
            ``rfc3339`` in JSON and ``iso8601`` on the console; on a terminal only the time of day.
        sampling: whether repeated lines are dropped and counted. Of one message of one controller, the first 10
            warnings and errors in a second are logged, 100 of lower levels, and then each hundredth. Of tracebacks from
            one line of code, the first 5 in a minute are logged.

    Raises:
        ValueError: a value is not one of these.
    """

    devel: bool | None = None
    log_level: str | None = None
    encoder: Encoder | None = None
    stacktrace_level: str | None = None
    time_encoding: TimeEncoding | None = None
    sampling: bool | None = None

    def __post_init__(self) -> None:
        if self.log_level is not None:
            parse_levels(self.log_level)
        if self.stacktrace_level is not None:
            parse_level(self.stacktrace_level)
        _check("encoder", self.encoder, get_args(Encoder))
        _check("time_encoding", self.time_encoding, TIME_ENCODINGS)

    @property
    def level(self) -> int:
        """The level of all loggers that have none of their own, as `logging` counts."""
        named = parse_levels(self.log_level)[0] if self.log_level else None
        return named if named is not None else logging.DEBUG if self.devel else logging.INFO

    @property
    def levels(self) -> Mapping[str, int]:
        """The levels of single loggers, by name, as `logging` counts."""
        return _QUIET | (parse_levels(self.log_level)[1] if self.log_level else {})

    def handler(self, stream: TextIO) -> logging.Handler:
        """Return a handler that writes to a stream in this form, for programs that set up `logging` themselves.

        Colours are for terminals, and not where ``NO_COLOR`` is set. Levels are those of loggers and not its business.
        """
        is_sampled = not self.devel if self.sampling is None else self.sampling
        handler = SamplingHandler(stream) if is_sampled else logging.StreamHandler(stream)
        handler.addFilter(LogContextFilter())
        handler.setFormatter(self._formatter(is_terminal=stream.isatty()))
        return handler

    def _formatter(self, *, is_terminal: bool) -> logging.Formatter:
        trace = {None: logging.NOTSET, True: logging.WARNING, False: logging.ERROR}[self.devel]
        if self.stacktrace_level is not None:
            trace = parse_level(self.stacktrace_level)
        if (self.encoder or ("json" if self.devel is False else "console")) == "json":
            return JsonFormatter(time_encoding=self.time_encoding or "rfc3339", stacktrace_level=trace)
        return ConsoleFormatter(
            is_coloured=is_terminal and not os.environ.get("NO_COLOR"),
            time_encoding=self.time_encoding or (None if is_terminal else "iso8601"),
            stacktrace_level=trace,
        )

    @staticmethod
    def add_flags(parser: argparse.ArgumentParser) -> None:
        """Add the log flags of `pyctrl run` to a parser, and their names in controller-runtime, ``--zap-…``.

        `from_args` returns the options of the parsed flags.
        """
        add = parser.add_argument_group("logs").add_argument
        add("-v", "--verbose", dest="zap_log_level", action="store_const", const="debug", help="log each reconcile")
        add(
            "--zap-devel",
            nargs="?",
            const=True,
            type=_flag(_parse_bool),
            metavar="true|false",
            help="true: console, debug, tracebacks of warnings; false: json, info, tracebacks of errors",
        )
        add(
            "--log-level",
            "--zap-log-level",
            dest="zap_log_level",
            type=_flag(_checked(parse_levels)),
            metavar="LEVEL",
            help="debug, info, warn, error, panic or a number; with LEVEL,LOGGER=LEVEL,… per logger; default: info",
        )
        encoders, meaning = get_args(Encoder), "for people, or for machines; default: console"
        add("--log-format", "--zap-encoder", dest="zap_encoder", choices=encoders, help=meaning)
        add(
            "--zap-stacktrace-level",
            type=_flag(_checked(parse_level)),
            metavar="LEVEL",
            help="show tracebacks from this level on; default: always",
        )
        meaning = "default: rfc3339 in JSON, iso8601 on the console, the time of day on a terminal"
        add("--zap-time-encoding", choices=TIME_ENCODINGS, help=meaning)
        add(
            "--zap-sampling",
            nargs="?",
            const=True,
            type=_flag(_parse_bool),
            metavar="true|false",
            help="drop and count repeated lines; default: true without --zap-devel",
        )

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> Self:
        """Return the options of a parsed command line with the flags of `add_flags`."""
        return cls(**{field.name: getattr(args, f"zap_{field.name}") for field in fields(cls)})


def parse_level(text: str) -> int:
    """Return the level of `logging` for a name, or for zap's number: 0 is info, 1 is debug.

    Raises:
        ValueError: the text is not a level.
    """
    if (level := _LEVELS.get(text.strip().lower())) is not None:
        return level
    if text.strip().isdecimal():
        verbosity = int(text)
        return max(1, logging.DEBUG + 1 - verbosity) if verbosity else logging.INFO
    raise ValueError(f"expected a level (debug, info, warn, error, panic or a number from 0 on), got {text!r}")


def parse_levels(text: str) -> tuple[int | None, dict[str, int]]:
    """Parse ``LEVEL,LOGGER=LEVEL,…``; every part is optional.

    Raises:
        ValueError: the text has another form.
    """
    general: int | None = None
    named: dict[str, int] = {}
    for part in text.split(","):
        logger, equals, level = part.rpartition("=")
        if equals and logger.strip():
            named[logger.strip()] = parse_level(level)
        elif equals or general is not None:
            raise ValueError(f"expected LEVEL,LOGGER=LEVEL,…, such as info,pyctrl.cache=debug, got {text!r}")
        else:
            general = parse_level(part)
    return general, named


def _parse_bool(text: str) -> bool:
    values = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}  # Go's
    if (value := values.get(text.lower())) is None:
        raise ValueError(f"expected true or false, got {text!r}")
    return value


def _checked(parse: Callable[[str], object]) -> Callable[[str], str]:
    def check(text: str) -> str:
        parse(text)
        return text

    return check


def _flag(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Convert a ValueError to an ArgumentTypeError, because argparse hides the message of a ValueError."""
    from argparse import ArgumentTypeError

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return parsed


def _check(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
