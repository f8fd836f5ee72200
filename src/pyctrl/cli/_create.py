"""`pyctrl create …`: adds kinds and webhooks to a project."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._command_line import NEGATABLE, CommandLine, epilogue
from pyctrl.cli._shared_flags import FILES, KIND, Convert, Default, DryRun, KindGroup, KindName, KindVersion, Validate

__all__ = ["app"]

API_EPILOGUE = epilogue(
    """\
# PodSet in the group apps.example.com, with its controller and a test
pyctrl create api --group apps --version v1alpha1 --kind PodSet

# a Deployment for each object
pyctrl create api --version v1 --kind Memcached --image memcached:1.6

# types only
pyctrl create api --group stable --version v2 --kind CronTab --no-controller
""",
    {0: "done, or nothing to do", 1: "failed"},
)

WEBHOOK_EPILOGUE = epilogue(
    """\
# fill in defaults, and reject what the types cannot express
pyctrl create webhook --group apps --version v1alpha1 --kind PodSet --default --validate

# convert between v2, which is stored, and every other version
pyctrl create webhook --group stable --version v2 --kind CronTab --convert
""",
    {0: "done, or nothing to do", 1: "failed"},
)

app = CommandLine("create")


@app.command(help_epilogue=API_EPILOGUE)
def api(
    *,
    group: KindGroup = "",
    version: KindVersion,
    kind: KindName,
    plural: Annotated[str, Parameter(group=KIND, metavar="NAME")] = "",
    namespaced: Annotated[bool, Parameter(group=KIND, negative_bool=NEGATABLE)] = True,
    image: Annotated[str, Parameter(group=FILES, metavar="IMAGE")] = "",
    resource: Annotated[bool | None, Parameter(group=FILES, negative_bool=NEGATABLE)] = None,
    controller: Annotated[bool | None, Parameter(group=FILES, negative_bool=NEGATABLE)] = None,
    force: Annotated[bool, Parameter(group=FILES)] = False,
    dry_run: Annotated[DryRun, Parameter(group=FILES)] = False,
) -> int:
    """Add a kind: its types, a controller and a passing test.

    On a terminal, asks what to create unless flags say so; otherwise creates everything. Overwrites edited files only
    with `--force`.

    Parameters
    ----------
    group
        The API group, without the project's domain. Without it, the domain itself is the group.
    version
        The API version, such as `v1alpha1`.
    kind
        The kind, in CamelCase.
    plural
        The plural, as in URLs. Derived from the kind by default.
    namespaced
        Whether objects live in namespaces.
    image
        Manage a Deployment of this image for each object, with a size in the spec and the ready pods in the status.
    resource
        Create the types.
    controller
        Create the controller and its test.
    force
        Overwrite files that differ.
    """
    from pyctrl.cli._scaffolding import NamedKind, create_api  # here: help and completion need none of it

    wanted = NamedKind(group=group, version=version, kind=kind, plural=plural, namespaced=namespaced, image=image)
    return create_api(wanted, resource=resource, controller=controller, force=force, dry_run=dry_run)


@app.command(help_epilogue=WEBHOOK_EPILOGUE)
def webhook(
    *,
    group: KindGroup = "",
    version: KindVersion,
    kind: KindName,
    default: Default = False,
    validate: Validate = False,
    convert: Convert = False,
    spoke: Annotated[tuple[str, ...], Parameter(group=FILES, metavar="VERSION[,VERSION]")] = (),
    force: Annotated[bool, Parameter(group=FILES)] = False,
    dry_run: Annotated[DryRun, Parameter(group=FILES)] = False,
) -> int:
    """Add webhooks of a kind, each with a passing test.

    On a terminal, asks what to create unless flags say so. `pyctrl dev`, `pyctrl run` and `pyctrl manifests` find the
    webhooks; nothing has to be registered.

    Parameters
    ----------
    group
        The API group, without the project's domain. Without it, the domain itself is the group.
    version
        The API version in which webhooks see objects; for conversion, the stored version, which must be able to express
        all others.
    kind
        The kind, in CamelCase.
    default
        Create a `Defaulter`, which fills in fields.
    validate
        Create a `Validator`, which rejects objects.
    convert
        Create the conversion between the other versions and this one.
    spoke
        Convert only this version. Implies `--convert`. May be repeated.
    force
        Overwrite files that differ.
    """
    from pyctrl.cli._scaffolding import (  # here: help and completion need none of it
        NamedKind,
        RequestedWebhooks,
        create_webhook,
    )

    wanted = NamedKind(group=group, version=version, kind=kind)
    hooks = RequestedWebhooks(default=default, validate=validate, convert=convert, spokes=spoke)
    return create_webhook(wanted, hooks, force=force, dry_run=dry_run)
