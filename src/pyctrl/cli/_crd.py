"""`pyctrl crd …`: definitions compared, and made into classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._login import NO_FLAGS, Login
from ._sources import no_option

COMPARED = Group("What is compared", sort_key=1)
WRITTEN = Group("What is written", sort_key=1)

EPILOGUE = """\
Examples:

```
# does this release break the objects that a cluster has stored
pyctrl crd diff cluster:podsets.apps.jicki.cn config/crd/bases/apps.jicki.cn_podsets.yaml

# the classes of the program against what was released; exit code 1 when something breaks
pyctrl crd diff released/ mypackage.api

# typed classes of somebody else's kind
pyctrl crd import certificates.yaml --out certificate.py
pyctrl crd import cluster:certificates.cert-manager.io
curl --location "$URL" | pyctrl crd import - --out certificate.py
```
"""

app = App(name="crd", help_epilogue=EPILOGUE)


@app.command
def diff(
    old: Annotated[str, Parameter(metavar="OLD", allow_leading_hyphen=True, validator=no_option)],
    new: Annotated[str, Parameter(metavar="NEW", allow_leading_hyphen=True, validator=no_option)],
    /,
    *,
    all: Annotated[bool, Parameter(group=COMPARED, negative="")] = False,
    output: Annotated[Literal["text", "json"], Parameter(name=["--output", "-o"], group=COMPARED)] = "text",
    login: Login = NO_FLAGS,
) -> int:
    """Say which changes of definitions break the objects that are stored.

    Each side is a file or a folder of definitions, `cluster:NAME` or `cluster` (all of them), or a program whose
    classes are the source: a module, or FILE.py. A change is `breaking` when objects lose data or are refused when they
    are written again, or when clients fail; `risky` when something else is not as it was; or `harmless`. Exit code 1:
    something breaks.

    Parameters
    ----------
    old
        What is there.
    new
        What shall be.
    all
        Tell harmless changes, too.
    output
        For people or for programs, which are told everything.
    """
    from ._crd_diff import diff as compare  # here: help needs none of it

    return compare(old, new, everything=all, output=output, login=login)


@app.command(name="import")
def import_(
    sources: Annotated[
        tuple[str, ...],
        Parameter(metavar="FILE|cluster:NAME|-", negative="", allow_leading_hyphen=True, validator=no_option),
    ],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], group=WRITTEN, metavar="FILE")] = None,
    force: Annotated[bool, Parameter(group=WRITTEN, negative="")] = False,
    login: Login = NO_FLAGS,
) -> None:
    """Write typed classes for definitions, to read and write objects of somebody else's kinds with.

    Each version of a kind becomes a class, and each object inside of it. Enums, bounds and patterns are checked by
    pydantic; list types, validation rules and the rest become marks, so that the definition of the classes is the same
    again. Conditions, pod templates and other parts that Kubernetes has types for are of those types. What the classes
    cannot say is told, and stands in the file as a comment.

    Parameters
    ----------
    sources
        Files or folders of definitions; definitions of a cluster: `cluster:certificates.cert-manager.io`; or `-`, what
        comes in.
    out
        The file to write; by default it is printed. If ruff is installed, the file is formatted as its project wants.
    force
        Write over a file that exists.
    """
    from ._crd_import import write_classes  # here: help needs none of it

    write_classes(sources, out=out, force=force, login=login)
