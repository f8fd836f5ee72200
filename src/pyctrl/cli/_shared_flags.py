"""Arguments and flags that several commands share, with the same names and descriptions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

__all__ = [
    "FILES",
    "KIND",
    "KINDS",
    "OUTPUT",
    "Check",
    "Convert",
    "Default",
    "Definitions",
    "DryRun",
    "KindGroup",
    "KindName",
    "KindVersion",
    "LogLevel",
    "NodeCount",
    "Output",
    "OutputDir",
    "OutputFile",
    "OutputWithYaml",
    "Program",
    "Programs",
    "ServerLogLevel",
    "ServiceAccount",
    "ShippedProgram",
    "Validate",
    "WatchedNamespaces",
    "refuse_options",
    "split_namespaces",
]


KINDS = Group("Custom kinds", sort_key=1)
OUTPUT = Group("Output", sort_key=7)

_PROGRAM = "`FILE.py`, `DIRECTORY` or `MODULE`, with `:FUNCTION` if there are several."
_FORMAT = Parameter(name=("--output", "-o"), group=OUTPUT, metavar="FORMAT", help="Output format.")

Program = Annotated[str, Parameter(metavar="PROGRAM", help=_PROGRAM)]
ShippedProgram = Annotated[
    str | None,
    Parameter(metavar="PROGRAM", help=_PROGRAM + " Defaults to `program` of `[tool.pyctrl]` in pyproject.toml."),
]

Output = Annotated[Literal["text", "json"], _FORMAT]
OutputWithYaml = Annotated[Literal["text", "json", "yaml"], _FORMAT]

OutputDir = Annotated[Path | None, Parameter(name="--output-dir", group=OUTPUT, metavar="DIR")]
OutputFile = Annotated[
    Path | None,
    Parameter(name=("--output-file", "--out"), group=OUTPUT, metavar="FILE", help="The file to write."),
]
Check = Annotated[
    bool, Parameter(name="--check", help="Show what is out of date, and exit with 1 if anything is; write nothing.")
]

WatchedNamespaces = Annotated[
    tuple[str, ...],
    Parameter(
        name=("--watch-namespace", "--watch-namespaces"),
        metavar="NAME",
        help="Watch only this namespace. May be repeated, or be a list: `NAME,NAME`. Defaults to `watch-namespaces` of "
        "`[tool.pyctrl]`, or all.",
    ),
]


def _check_log_level(_type: object, value: str | None) -> None:
    """Raise ValueError, as cyclopts' validators do, if the value is not a level. Called for defaults, too."""
    if value is not None:
        from pyctrl._log import LogOptions  # here: help needs none of it

        LogOptions(log_level=value)


_LOG_LEVEL = (
    "Log from this level on: `debug`, `info`, `warn`, `error`, `panic` or a number; `LEVEL,LOGGER=LEVEL,...` sets "
    "single loggers."
)

# As in controller-runtime, whose flags Deployments have: --zap-log-level is accepted, too.
LogLevel = Annotated[
    str | None,
    Parameter(
        name=("--log-level", "--zap-log-level"),
        metavar="LEVEL",
        validator=_check_log_level,
        help=f"{_LOG_LEVEL} Defaults to `info`.",
    ),
]

ServerLogLevel = Annotated[LogLevel, Parameter(help=f"{_LOG_LEVEL} Defaults to `warn`.")]

_ONE_OR_MORE = Number(gte=1, lte=1000)  # a thousand nodes have networks of their own for pods

NodeCount = Annotated[int, Parameter(metavar="N", validator=_ONE_OR_MORE)]

ServiceAccount = Annotated[str | None, Parameter(name=("--service-account", "--account"), metavar="ACCOUNT")]

DryRun = Annotated[bool, Parameter(name="--dry-run", help="Write nothing; print the changes as a patch.")]

Definitions = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--crd",
        group=KINDS,
        metavar="FILE|DIR",
        help="Read CRDs from here. Defaults to the nearest `config/crd/bases`, and the classes of the project. "
        "May be repeated.",
    ),
]
Programs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--types",
        group=KINDS,
        metavar="PROGRAM",
        help="Generate CRDs from the classes of `FILE.py` or `MODULE`. May be repeated.",
    ),
]


KIND = Group("Kind", sort_key=0)
FILES = Group("Files", sort_key=1)

KindGroup = Annotated[str, Parameter(group=KIND, metavar="GROUP")]
KindVersion = Annotated[str, Parameter(group=KIND, metavar="VERSION")]
KindName = Annotated[str, Parameter(group=KIND, metavar="KIND")]

# The second names are kubebuilder's.
Default = Annotated[bool, Parameter(name=("--default", "--defaulting"), group=FILES)]
Validate = Annotated[bool, Parameter(name=("--validate", "--programmatic-validation"), group=FILES)]
Convert = Annotated[bool, Parameter(name=("--convert", "--conversion"), group=FILES)]


def refuse_options(_type: object, given: object) -> None:
    """Raise ValueError for options: to accept ``-``, cyclopts has to accept all tokens with a hyphen."""
    if given is None:
        return
    for each in given if isinstance(given, Iterable) and not isinstance(given, str) else [given]:
        if str(each) != "-" and str(each).startswith("-"):
            raise UnknownOption(str(each))


class UnknownOption(ValueError):
    """Raised for an option in place of an argument that may begin with a hyphen."""

    def __init__(self, option: str) -> None:
        super().__init__(f"unknown option {option}")
        self.option = option


def split_namespaces(lists: Iterable[str]) -> tuple[str, ...]:
    """Return the namespaces of lists that are separated by commas."""
    return tuple(name.strip() for text in lists for name in text.split(",") if name.strip())
