"""Arguments and flags that several commands have, so that each is called and described alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

__all__ = [
    "KINDS",
    "OUTPUT",
    "Definitions",
    "DryRun",
    "Output",
    "OutputWithYaml",
    "Program",
    "Programs",
    "ShippedProgram",
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

DryRun = Annotated[bool, Parameter(name="--dry-run", help="Write nothing; print what would be written, as a patch.")]

Definitions = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--crd",
        group=KINDS,
        metavar="FILE|DIR",
        help="Read definitions from here. Defaults to the nearest `config/crd/bases`, and the classes of the project. "
        "May be repeated.",
    ),
]
Programs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--types",
        group=KINDS,
        metavar="PROGRAM",
        help="Take definitions from the classes of `FILE.py` or `MODULE`. May be repeated.",
    ),
]
