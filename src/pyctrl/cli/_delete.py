"""`pyctrl delete …`: removes kinds and webhooks from a project."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import FILES, Convert, Default, KindGroup, KindName, KindVersion, Validate

__all__ = ["app"]

API_EPILOGUE = epilogue(
    """\
# what would be removed
pyctrl delete api --group apps --version v1alpha1 --kind PodSet

# remove it, and update the manifests
pyctrl delete api --group apps --version v1alpha1 --kind PodSet --yes
pyctrl manifests
""",
    {0: "removed, or listed without `--yes`", 1: "failed"},
)

WEBHOOK_EPILOGUE = epilogue(
    """\
# remove the conversion only
pyctrl delete webhook --group stable --version v2 --kind CronTab --convert --yes
""",
    {0: "removed, or listed without `--yes`", 1: "failed"},
)

app = CommandLine("delete")


@app.command(help_epilogue=API_EPILOGUE)
def api(
    *,
    group: KindGroup = "",
    version: KindVersion,
    kind: KindName,
    yes: Annotated[bool, Parameter(group=FILES)] = False,
    force: Annotated[bool, Parameter(group=FILES)] = False,
) -> int:
    """List the files of a kind, or remove them with `--yes`.

    Removes only files that `pyctrl create` wrote: the types, and the controller, webhooks and tests of this version. If
    one was edited, or another file imports it, nothing is removed without `--force`. No cluster is contacted.

    Parameters
    ----------
    group
        The API group, without the project's domain.
    version
        The API version.
    kind
        The kind.
    yes
        Remove the files.
    force
        Remove files that were edited or that other files import, too.
    """
    from pyctrl.cli._scaffolding import NamedKind, delete_api  # here: help and completion need none of it

    return delete_api(NamedKind(group=group, version=version, kind=kind), yes=yes, force=force)


@app.command(help_epilogue=WEBHOOK_EPILOGUE)
def webhook(
    *,
    group: KindGroup = "",
    version: KindVersion,
    kind: KindName,
    default: Default = False,
    validate: Validate = False,
    convert: Convert = False,
    yes: Annotated[bool, Parameter(group=FILES)] = False,
    force: Annotated[bool, Parameter(group=FILES)] = False,
) -> int:
    """List the files of a kind's webhooks, or remove them with `--yes`.

    Covers all webhooks of the kind, unless flags select some. No cluster is contacted.

    Parameters
    ----------
    group
        The API group, without the project's domain.
    version
        The API version in which webhooks see objects.
    kind
        The kind.
    default
        The `Defaulter`.
    validate
        The `Validator`.
    convert
        The conversion.
    yes
        Remove the files.
    force
        Remove files that were edited or that other files import, too.
    """
    from pyctrl.cli._scaffolding import (  # here: help and completion need none of it
        NamedKind,
        RequestedWebhooks,
        delete_webhook,
    )

    wanted = NamedKind(group=group, version=version, kind=kind)
    return delete_webhook(
        wanted, RequestedWebhooks(default=default, validate=validate, convert=convert), yes=yes, force=force
    )
