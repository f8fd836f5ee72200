"""`pyctrl init`: a new project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

EPILOGUE = """\
Nothing is downloaded, and nothing is overwritten. What a project is stands in its pyproject.toml, and nowhere else.

Exit codes: 0 done, or there was nothing to do; 1 it could not be done; 2 not understood.

Examples:

```
# in a new directory, which has the name of the project
pyctrl init podset-operator --domain example.com

# as operator-sdk would be told, in the current directory
pyctrl init --domain idcos.com --license apache2 --owner "Jane Doe"

# an operator in one file; look first
pyctrl init greeter --layout single-file --dry-run
```
"""

app = App(name="init", help_epilogue=EPILOGUE)


@app.default
def init(
    directory: Annotated[Path, Parameter(metavar="DIR", show_default=False)] = Path(),
    /,
    *,
    domain: str = "example.com",
    name: Annotated[str, Parameter(metavar="NAME", show_default=False)] = "",
    layout: Literal["package", "single-file"] = "package",
    license: Literal["apache2", "none"] = "none",
    owner: Annotated[str, Parameter(metavar="NAME", show_default=False)] = "",
    dry_run: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Begin a project: what it is, how it is checked, and where its code goes.

    Parameters
    ----------
    directory
        Where; by default here. It is made if it is not there.
    domain
        What the groups of its kinds end with: group `apps` and domain `example.com` are `apps.example.com`.
    name
        What it is called; by default as its directory.
    layout
        A package with a module for each kind, controller and webhook; or a single file for one kind.
    license
        Have the head of each file say that it is under this license.
    owner
        Have the head of each file say whose it is.
    dry_run
        Write nothing; print what would be written, as a patch.
    """
    from pyctrl.scaffold import ScaffoldProject  # here: help and completion need none of it

    from ._scaffolding import begin

    project = ScaffoldProject.checked(
        directory.resolve(), name=name, domain=domain, layout=layout, license=license, owner=owner
    )
    return begin(project, shown=directory, dry_run=dry_run)
