"""The flags of logs: controller-runtime's ``--zap-…``, for every command that runs a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pyctrl._log import LogOptions

LOGS = Group("Logs", sort_key=8)


def _is_log_level(kind: object, value: str | None) -> None:
    """Refuse, as cyclopts' validators do by a ValueError, what is no level."""
    LogOptions(log_level=value)


def _is_stacktrace_level(kind: object, value: str | None) -> None:
    LogOptions(stacktrace_level=value)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class LogFlags:
    """How logs look and how much they tell. A command has one parameter of this type: ``logs: Logs = NO_LOG_FLAGS``."""

    verbose: Annotated[
        bool,
        Parameter(
            name=("--verbose", "-v"),
            group=LOGS,
            help="Log each reconcile. Same as `--zap-log-level=debug`.",
        ),
    ] = False
    zap_devel: Annotated[
        bool | None,
        Parameter(
            group=LOGS,
            help="Log for development: console, debug, tracebacks of warnings. `--zap-devel=false`: JSON, info, "
            "tracebacks of errors.",
        ),
    ] = None
    zap_log_level: Annotated[
        str | None,
        Parameter(
            group=LOGS,
            metavar="LEVEL",
            validator=_is_log_level,
            help="`debug`, `info`, `warn`, `error`, `panic` or a number; `LEVEL,LOGGER=LEVEL,...` sets single loggers. "
            "Defaults to `info`.",
        ),
    ] = None
    zap_encoder: Annotated[
        Literal["console", "json"] | None,
        Parameter(group=LOGS, metavar="FORMAT", help="Log format. Defaults to `console`."),
    ] = None
    zap_stacktrace_level: Annotated[
        str | None,
        Parameter(
            group=LOGS,
            metavar="LEVEL",
            validator=_is_stacktrace_level,
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
        """Return them as what `configure_logging` takes."""
        return LogOptions(
            devel=self.zap_devel,
            log_level=self.zap_log_level or ("debug" if self.verbose else None),
            encoder=self.zap_encoder,
            stacktrace_level=self.zap_stacktrace_level,
            time_encoding=self.zap_time_encoding,
            sampling=self.zap_sampling,
        )


NO_LOG_FLAGS = LogFlags()
