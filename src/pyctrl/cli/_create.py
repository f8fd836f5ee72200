"""`pyctrl create …`: what is added to a project."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Group, Parameter

KIND = Group("The kind", sort_key=0)
MADE = Group("What is made", sort_key=1)

EPILOGUE = """\
Nothing that was edited is overwritten, unless `--force` says so. `--dry-run` prints a patch and writes nothing.

Exit codes: 0 done, or there was nothing to do; 1 it could not be done; 2 not understood.

Examples:

```
# a kind PodSet of the group apps.example.com, its controller and a test
pyctrl create api --group apps --version v1alpha1 --kind PodSet

# the types only
pyctrl create api --group stable --version v2 --kind CronTab --no-controller

# fill in what users leave out, and refuse what types cannot rule out
pyctrl create webhook --group apps --version v1alpha1 --kind PodSet --default --validate

# convert between v2, which is stored, and every other version
pyctrl create webhook --group stable --version v2 --kind CronTab --convert
```
"""

app = App(name="create", help_epilogue=EPILOGUE)


@app.command
def api(
    *,
    group: Annotated[str, Parameter(group=KIND, metavar="NAME")] = "",
    version: Annotated[str, Parameter(group=KIND, metavar="VERSION")],
    kind: Annotated[str, Parameter(group=KIND, metavar="KIND")],
    plural: Annotated[str, Parameter(group=KIND, metavar="NAME", show_default=False)] = "",
    namespaced: Annotated[bool, Parameter(group=KIND)] = True,
    resource: Annotated[bool | None, Parameter(group=MADE, show_default=False)] = None,
    controller: Annotated[bool | None, Parameter(group=MADE, show_default=False)] = None,
    force: Annotated[bool, Parameter(group=MADE, negative="")] = False,
    dry_run: Annotated[bool, Parameter(group=MADE, negative="")] = False,
) -> int:
    """Add a kind of your own: its types, a controller, and a test that passes.

    On a terminal it asks what to make, if no flag says it; elsewhere it makes all of it.

    Parameters
    ----------
    group
        Its group, without the project's domain, which is put behind it; none: the domain is the group.
    version
        Its version, such as v1alpha1.
    kind
        Its name, in CamelCase.
    plural
        Its name in URLs; by default made of the kind's.
    namespaced
        Whether its objects are in namespaces.
    resource
        Make its types.
    controller
        Make its controller, and the test.
    force
        Write over files that are there and differ.
    dry_run
        Write nothing; print what would be written, as a patch.
    """
    from ._scaffolding import Wanted, create_api  # here: help and completion need none of it

    wanted = Wanted(group=group, version=version, kind=kind, plural=plural, namespaced=namespaced)
    return create_api(wanted, resource=resource, controller=controller, force=force, dry_run=dry_run)


@app.command
def webhook(
    *,
    group: Annotated[str, Parameter(group=KIND, metavar="NAME")] = "",
    version: Annotated[str, Parameter(group=KIND, metavar="VERSION")],
    kind: Annotated[str, Parameter(group=KIND, metavar="KIND")],
    default: Annotated[bool, Parameter(name=("--default", "--defaulting"), group=MADE, negative="")] = False,
    validate: Annotated[
        bool, Parameter(name=("--validate", "--programmatic-validation"), group=MADE, negative="")
    ] = False,
    convert: Annotated[bool, Parameter(name=("--convert", "--conversion"), group=MADE, negative="")] = False,
    spoke: Annotated[tuple[str, ...], Parameter(group=MADE, metavar="VERSION", negative="", show_default=False)] = (),
    force: Annotated[bool, Parameter(group=MADE, negative="")] = False,
    dry_run: Annotated[bool, Parameter(group=MADE, negative="")] = False,
) -> int:
    """Add webhooks of a kind: what is filled in, refused or converted before it is stored; each with a test.

    On a terminal it asks what to make, if no flag says it. Nothing is to be registered: `pyctrl dev`, `pyctrl run` and
    `pyctrl manifests` find what is made.

    Parameters
    ----------
    group
        The kind's group, without the project's domain.
    version
        The version in which webhooks get objects; of a conversion, the one that is stored, which must be able to say
        all that the others can.
    kind
        The kind's name.
    default
        Make what fills in, a `Defaulter`.
    validate
        Make what refuses, a `Validator`.
    convert
        Make what converts the other versions to this one and back.
    spoke
        Convert this version only, or these: VERSION or VERSION,VERSION; may be repeated. Means `--convert`.
    force
        Write over files that are there and differ.
    dry_run
        Write nothing; print what would be written, as a patch.
    """
    from ._hooking import Wanted, WantedHooks, create_webhook  # here: help and completion need none of it

    wanted = Wanted(group=group, version=version, kind=kind)
    hooks = WantedHooks(default=default, validate=validate, convert=convert, spokes=spoke)
    return create_webhook(wanted, hooks, force=force, dry_run=dry_run)
