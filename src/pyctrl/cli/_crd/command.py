"""`pyctrl crd …`: comparison of CRDs, and import as classes."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT, Output, OutputFile, refuse_options

__all__ = ["app"]

DIFF_EPILOGUE = epilogue(
    """\
# does this release break stored objects of a cluster?
pyctrl crd diff cluster:podsets.apps.jicki.cn config/crd/bases/apps.jicki.cn_podsets.yaml

# this project's classes against the last release
pyctrl crd diff released/
pyctrl crd diff released/ mypackage.api
""",
    {0: "no change is breaking", 1: "a change is breaking, or failed"},
)
IMPORT_EPILOGUE = epilogue(
    """\
pyctrl crd import certificates.yaml --output-file certificate.py

# from a cluster, or from stdin
pyctrl crd import cluster:certificates.cert-manager.io
curl --location "$URL" | pyctrl crd import - --output-file certificate.py
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
    """Show which changes of CRDs break stored objects.

    Each side is a file or directory of CRDs, `cluster:NAME` or `cluster` (all of them), or a program whose
    classes define them: `FILE.py`, `MODULE` or the directory of a project. A change is `breaking` if objects lose data,
    are rejected at their next update, or if clients fail; `risky` if it changes behaviour otherwise; or `harmless`.

    Parameters
    ----------
    old
        The current CRDs.
    new
        The new CRDs. Defaults to the classes of `program` of `[tool.pyctrl]` in pyproject.toml.
    all
        Show harmless changes, too. JSON always includes them.
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
    output_file: OutputFile = None,
    force: Annotated[bool, Parameter(group=OUTPUT)] = False,
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Write typed classes for CRDs.

    Use it for kinds that other projects define. Each version of a kind becomes a class. pydantic checks enums, bounds
    and patterns. List types, validation rules and the rest become markers, so that the classes generate the same CRD
    again. Conditions, pod templates and similar fields use pyctrl's types. What classes cannot express is reported,
    and written as a comment.

    Parameters
    ----------
    sources
        Files or directories of CRDs, `cluster:NAME`, or `-` for stdin.
    output_file
        The file to write, formatted with ruff if it is installed. Defaults to stdout.
    force
        Overwrite an existing file.
    """
    from pyctrl.cli._crd.class_import import write_classes  # here: help needs none of it

    write_classes(sources, out=output_file, force=force, login=login)
