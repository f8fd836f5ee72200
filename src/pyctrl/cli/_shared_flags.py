"""Arguments and flags that several commands share, with the same names and descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

__all__ = [
    "FILES",
    "KIND",
    "KINDS",
    "OUTPUT",
    "Convert",
    "Default",
    "Definitions",
    "DryRun",
    "KindGroup",
    "KindName",
    "KindVersion",
    "Output",
    "OutputWithYaml",
    "Program",
    "Programs",
    "ShippedProgram",
    "Validate",
    "find_program",
    "packaged_program",
    "refuse_options",
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
            raise ValueError(f"unknown option {each}; a file of that name is ./{each}")


def packaged_program(target: str | None, watched: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return a program and the namespaces that it watches, by default those of pyproject.toml.

    Args:
        target: the argument; None if it is missing.
        watched: the namespaces of the flags; empty: those of the program's pyproject.toml.

    Raises:
        CommandFailed: no program is named, on the command line or in pyproject.toml.
    """
    from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS

    settings = NO_PACKAGING_FLAGS.settings(target)
    return (settings.target if target is None else target), watched or settings.watch_namespaces


def find_program(text: str | None, flags: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Return the program to run, by default that of pyproject.toml, its command-line words, and its own flags.

    Args:
        text: the argument PROGRAM; None if it is missing. An option here is the first flag after ``--``.
        flags: the further arguments.

    Raises:
        CommandFailed: no program is named, neither here nor in pyproject.toml.
    """
    if text is not None and not text.startswith("-"):
        return text, [text], flags
    from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS  # here: reads pyproject.toml

    return NO_PACKAGING_FLAGS.settings(None).target, [], flags if text is None else [text, *flags]
