"""Flags for logging, controller-runtime's ``--zap-…``, of every command that runs a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pyctrl._log import LogOptions
from pyctrl.cli._shared_flags import LogLevel

__all__ = ["NO_LOG_FLAGS", "LogFlags"]

LOGS = Group("Logs", sort_key=8)


def _check_stacktrace_level(_type: object, value: str | None) -> None:
    if value is not None:
        LogOptions(stacktrace_level=value)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class LogFlags:
    """Flags for logging. A command has one parameter of this type: ``logs: LogFlags = NO_LOG_FLAGS``."""

    verbose: Annotated[
        bool,
        Parameter(
            name=("--verbose", "-v"),
            group=LOGS,
            help="Log each reconcile. Same as `--log-level=debug`.",
        ),
    ] = False
    log_level: Annotated[LogLevel, Parameter(group=LOGS)] = None
    log_format: Annotated[
        Literal["console", "json"] | None,
        Parameter(
            name=("--log-format", "--zap-encoder"),
            group=LOGS,
            metavar="FORMAT",
            help="Log format. Defaults to `console`.",
        ),
    ] = None
    zap_devel: Annotated[
        bool | None,
        Parameter(
            group=LOGS,
            help="Log for development: console, debug, tracebacks of warnings. `--zap-devel=false`: JSON, info, "
            "tracebacks of errors.",
        ),
    ] = None
    zap_stacktrace_level: Annotated[
        str | None,
        Parameter(
            group=LOGS,
            metavar="LEVEL",
            validator=_check_stacktrace_level,
            help="Log tracebacks from this level on. Defaults to every level.",
        ),
    ] = None
    zap_time_encoding: Annotated[
        Literal["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"] | None,
        Parameter(
            group=LOGS,
            metavar="FORMAT",
            help="Time format. Defaults to `rfc3339` in JSON, `iso8601` on the console, the time of day on a terminal.",
        ),
    ] = None

    zap_sampling: Annotated[
        bool | None,
        Parameter(
            group=LOGS,
            help="Leave out log lines that repeat within a second, and count them. Defaults to true, "
            "with `--zap-devel` to false.",
        ),
    ] = None

    def options(self) -> LogOptions:
        """Return the options for `configure_logging`."""
        return LogOptions(
            devel=self.zap_devel,
            log_level=self.log_level or ("debug" if self.verbose else None),
            encoder=self.log_format,
            stacktrace_level=self.zap_stacktrace_level,
            time_encoding=self.zap_time_encoding,
            sampling=self.zap_sampling,
        )


NO_LOG_FLAGS = LogFlags()
