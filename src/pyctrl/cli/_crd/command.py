"""`pyctrl crd …`: definitions compared, and made into classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT, Output, refuse_options

DIFF_EPILOGUE = epilogue(
    """\
# does this release break the objects that a cluster has stored?
pyctrl crd diff cluster:podsets.apps.jicki.cn config/crd/bases/apps.jicki.cn_podsets.yaml

# this project's classes against the last release
pyctrl crd diff released/
pyctrl crd diff released/ mypackage.api
""",
    {0: "nothing breaks", 1: "something breaks, or failed"},
)
IMPORT_EPILOGUE = epilogue(
    """\
pyctrl crd import certificates.yaml --out certificate.py

# from a cluster, or from stdin
pyctrl crd import cluster:certificates.cert-manager.io
curl --location "$URL" | pyctrl crd import - --out certificate.py
""",
    {0: "written", 1: "failed"},
)

app = CommandLine("crd")


@app.command(help_epilogue=DIFF_EPILOGUE)
def diff(
    old: Annotated[str, Parameter(metavar="OLD", allow_leading_hyphen=True, validator=refuse_options)],
    new: Annotated[str | None, Parameter(metavar="NEW", allow_leading_hyphen=True, validator=refuse_options)] = None,
    /,
    *,
    all: Annotated[bool, Parameter(group=OUTPUT)] = False,
    output: Output = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> int:
    """Show which changes of definitions break stored objects.

    Each side is a file or directory of definitions, `cluster:NAME` or `cluster` (all of them), or a program whose
    classes define them: `FILE.py`, `MODULE` or the directory of a project. A change is `breaking` if objects lose data
    or are refused when written again, or if clients fail; `risky` if behaviour changes otherwise; or `harmless`.

    Parameters
    ----------
    old
        The definitions there are.
    new
        The definitions to come. Defaults to the classes of `program` of `[tool.pyctrl]` in pyproject.toml.
    all
        Show harmless changes, too. JSON always has them.
    """
    from pyctrl.cli._crd.diff import diff as compare  # here: help needs none of it

    return compare(old, new, everything=all, output=output, login=login)


@app.command(name="import", help_epilogue=IMPORT_EPILOGUE)
def import_(
    sources: Annotated[
        tuple[str, ...],
        Parameter(metavar="SOURCE", allow_leading_hyphen=True, validator=refuse_options),
    ],
    /,
    *,
    out: Annotated[Path | None, Parameter(group=OUTPUT, metavar="FILE")] = None,
    force: Annotated[bool, Parameter(group=OUTPUT)] = False,
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Write typed classes for definitions.

    For objects of kinds that others define. Each version of a kind becomes a class. Enums, bounds and patterns are
    checked by pydantic; list types, validation rules and the rest become marks, so that the classes generate the same
    definition again. Conditions, pod templates and the like use pyctrl's own types. What classes cannot express is
    reported, and left as a comment.

    Parameters
    ----------
    sources
        Files or directories of definitions, `cluster:NAME`, or `-` for stdin.
    out
        The file to write, formatted with ruff if installed. Prints to stdout by default.
    force
        Overwrite an existing file.
    """
    from pyctrl.cli._crd.class_import import write_classes  # here: help needs none of it

    write_classes(sources, out=out, force=force, login=login)
