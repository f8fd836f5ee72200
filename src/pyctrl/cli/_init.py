"""`pyctrl init`: creates a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import DryRun

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# in a new directory; the project has its name
pyctrl init podset-operator --domain example.com

# in the current directory
pyctrl init --domain idcos.com --license apache2 --owner "Jane Doe"

# preview an operator in a single file
pyctrl init greeter --layout single-file --dry-run
""",
    {0: "done, or nothing to do", 1: "failed"},
)

app = CommandLine("init", help_epilogue=EPILOGUE)


@app.default
def init(
    directory: Annotated[Path, Parameter(metavar="DIR")] = Path(),
    /,
    *,
    domain: Annotated[str, Parameter(metavar="DOMAIN")] = "example.com",
    name: Annotated[str, Parameter(metavar="NAME")] = "",
    layout: Annotated[Literal["package", "single-file"], Parameter(metavar="LAYOUT")] = "package",
    license: Annotated[Literal["apache2", "none"], Parameter(metavar="LICENSE")] = "none",
    owner: Annotated[str, Parameter(metavar="NAME")] = "",
    pyctrl_from: Annotated[str, Parameter(metavar="SOURCE")] = "",
    dry_run: DryRun = False,
) -> int:
    """Start a project.

    Writes pyproject.toml, README.md, .gitignore, .dockerignore and an empty package. Downloads nothing, and never
    overwrites files.

    Parameters
    ----------
    directory
        The project directory. It is created if needed.
    domain
        The domain of the project's API groups: group `apps` becomes `apps.example.com`.
    name
        The project name. Defaults to the name of the directory.
    layout
        One module per kind, controller and webhook; or everything in one file, for one kind.
    license
        The license to put into file headers.
    owner
        The copyright owner to put into file headers.
    pyctrl_from
        Where pip installs pyctrl from: a version, or a URL such as `git+https://HOST/REPOSITORY@COMMIT`. Defaults to
        what this pyctrl was installed from.
    """
    from pyctrl.cli._scaffolding import create_project
    from pyctrl.scaffold import ScaffoldProject  # here: help and completion need none of it

    project = ScaffoldProject.checked(
        directory.resolve(), name=name, domain=domain, layout=layout, license=license, owner=owner
    )
    return create_project(project, shown=directory, source=pyctrl_from, dry_run=dry_run)
