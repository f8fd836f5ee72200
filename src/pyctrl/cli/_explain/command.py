"""`pyctrl explain`: documentation of the fields of a kind, with or without a cluster."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import KINDS, OUTPUT, Definitions, Output, Programs

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# a kind of this project, from config/crd/bases
pyctrl explain podset.spec

# from the classes of a program
pyctrl explain podset --types examples.podset.podset --recursive

# a built-in kind
pyctrl explain deployment.spec.strategy

# a kind of the cluster
pyctrl explain certificate.spec --from-cluster

# from a file
pyctrl explain certificate.spec.privateKey --crd cert-manager-crds.yaml
""",
    {0: "shown", 1: "no such kind or field, or failed"},
)

app = CommandLine("explain", help_epilogue=EPILOGUE)


@app.default
def explain(
    field: Annotated[str, Parameter(metavar="KIND[.PATH]")],
    /,
    *,
    recursive: Annotated[bool, Parameter(group=OUTPUT)] = False,
    crd: Definitions = (),
    types: Programs = (),
    from_cluster: Annotated[bool, Parameter(group=KINDS)] = False,
    output: Output = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Show the fields of a kind.

    Prints the type, default, bounds, validation rules and description of a kind or one of its fields. Unlike
    `kubectl explain`, it shows bounds and rules, and needs no cluster.

    Parameters
    ----------
    field
        A kind as kubectl takes it (`podset`, `podsets.apps.jicki.cn`, `ps`), and optionally a path: `podset.spec.size`.
        Paths go through lists and maps.
    recursive
        Print all fields below, one per line.
    from_cluster
        Use the schemas of the cluster instead.
    """
    from pyctrl.cli._explain.field import explain as show  # here: help needs none of it

    show(field, definitions=crd, programs=types, recursive=recursive, cluster=from_cluster, output=output, login=login)
