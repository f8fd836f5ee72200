"""`pyctrl explain`: what the fields of a kind are, from a terminal, with or without a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._login import NO_FLAGS, Login

KINDS = Group("The kinds that are known", sort_key=1)
SHOWN = Group("What is shown", sort_key=2)

EPILOGUE = """\
Examples:

```
# a kind of this project, from config/crd/bases
pyctrl explain podset.spec

# from the classes of a program
pyctrl explain podset --types examples.podset.podset --recursive

# a built-in kind; and with descriptions, which only a cluster has
pyctrl explain deployment.spec.strategy
pyctrl explain deployment.spec.strategy --cluster

# somebody else's kind, before it is installed
pyctrl explain certificate.spec.privateKey --crd cert-manager-crds.yaml
```
"""

app = App(name="explain", help_epilogue=EPILOGUE)


@app.default
def explain(
    field: Annotated[str, Parameter(metavar="KIND[.PATH]")],
    /,
    *,
    recursive: Annotated[bool, Parameter(group=SHOWN, negative="")] = False,
    crd: Annotated[tuple[Path, ...], Parameter(group=KINDS, metavar="FILE|DIR", negative="", show_default=False)] = (),
    types: Annotated[
        tuple[str, ...], Parameter(group=KINDS, metavar="MODULE|FILE.py", negative="", show_default=False)
    ] = (),
    cluster: Annotated[bool, Parameter(group=KINDS, negative="")] = False,
    output: Annotated[Literal["text", "json"], Parameter(name=["--output", "-o"], group=SHOWN)] = "text",
    login: Login = NO_FLAGS,
) -> None:
    """Show what a kind or one of its fields is: type, default, bounds, rules, description.

    Like `kubectl explain`, which shows no bounds and no rules, and needs a cluster.

    Parameters
    ----------
    field
        A kind as kubectl takes it (`podset`, `podsets.apps.jicki.cn`, `ps`), and a path: `podset.spec.size`. Lists and
        maps are gone through.
    recursive
        The whole tree below, one field a line.
    crd
        Definitions of custom kinds. By default those in `config/crd/bases` here, or in a folder above. May be
        repeated.
    types
        A program whose classes define custom kinds: a module, or a file of Python. May be repeated.
    cluster
        Ask the cluster of the login, instead of what is known here.
    output
        For people or for programs.
    """
    from ._explain_field import explain as show  # here: help needs none of it

    show(field, definitions=crd, programs=types, recursive=recursive, cluster=cluster, output=output, login=login)
