"""`pyctrl delete …`: what was added to a project, taken away."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Group, Parameter

KIND = Group("The kind", sort_key=0)
REMOVED = Group("What is removed", sort_key=1)

EPILOGUE = """\
Only files that `pyctrl create` has made are removed. If one was edited, or if another file imports it, nothing is,
unless `--force` says so.

Exit codes: 0 done, or shown what would be; 1 it could not be done; 2 not understood.

Examples:

```
# what would go
pyctrl delete api --group apps --version v1alpha1 --kind PodSet

# let it go, and its manifests
pyctrl delete api --group apps --version v1alpha1 --kind PodSet --yes
pyctrl manifests

# its conversion only
pyctrl delete webhook --group stable --version v2 --kind CronTab --convert --yes
```
"""

app = App(name="delete", help_epilogue=EPILOGUE)


@app.command
def api(
    *,
    group: Annotated[str, Parameter(group=KIND, metavar="NAME")] = "",
    version: Annotated[str, Parameter(group=KIND, metavar="VERSION")],
    kind: Annotated[str, Parameter(group=KIND, metavar="KIND")],
    yes: Annotated[bool, Parameter(group=REMOVED, negative="")] = False,
    force: Annotated[bool, Parameter(group=REMOVED, negative="")] = False,
) -> int:
    """Show which files were made for a kind, and with `--yes` remove them.

    Controller, webhooks and tests go with the version that they are for. Nothing is asked of a cluster.

    Parameters
    ----------
    group
        Its group, without the project's domain.
    version
        Its version.
    kind
        Its name.
    yes
        Remove them.
    force
        Remove what was edited, too, and what other files import.
    """
    from ._scaffolding import Wanted, delete_api  # here: help and completion need none of it

    return delete_api(Wanted(group=group, version=version, kind=kind), yes=yes, force=force)


@app.command
def webhook(
    *,
    group: Annotated[str, Parameter(group=KIND, metavar="NAME")] = "",
    version: Annotated[str, Parameter(group=KIND, metavar="VERSION")],
    kind: Annotated[str, Parameter(group=KIND, metavar="KIND")],
    default: Annotated[bool, Parameter(name=("--default", "--defaulting"), group=REMOVED, negative="")] = False,
    validate: Annotated[
        bool, Parameter(name=("--validate", "--programmatic-validation"), group=REMOVED, negative="")
    ] = False,
    convert: Annotated[bool, Parameter(name=("--convert", "--conversion"), group=REMOVED, negative="")] = False,
    yes: Annotated[bool, Parameter(group=REMOVED, negative="")] = False,
    force: Annotated[bool, Parameter(group=REMOVED, negative="")] = False,
) -> int:
    """Show which files were made for webhooks of a kind, and with `--yes` remove them.

    Without a flag that says which, all of them. Nothing is asked of a cluster.

    Parameters
    ----------
    group
        The kind's group, without the project's domain.
    version
        The version that they get objects in.
    kind
        The kind's name.
    default
        What fills in.
    validate
        What refuses.
    convert
        What converts.
    yes
        Remove them.
    force
        Remove what was edited, too, and what other files import.
    """
    from ._hooking import Wanted, WantedHooks, delete_webhook  # here: help and completion need none of it

    wanted = Wanted(group=group, version=version, kind=kind)
    return delete_webhook(
        wanted, WantedHooks(default=default, validate=validate, convert=convert), yes=yes, force=force
    )
