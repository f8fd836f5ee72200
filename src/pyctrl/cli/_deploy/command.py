"""`pyctrl deploy` and `pyctrl undeploy`: a program into a cluster, and out of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CONFIG_FLAGS, ConfigFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._durations import duration_or_none
from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS, PackagingFlags
from pyctrl.cli._shared_flags import Output, ShippedProgram

DEPLOY_EPILOGUE = epilogue(
    """\
pyctrl deploy podset.py --image registry.example/podset:0.1.0

# what would it apply, and what would that change?
pyctrl manifests podset.py --image registry.example/podset:0.1.0 -o yaml
pyctrl manifests podset.py --image registry.example/podset:0.1.0 --diff
""",
    {0: "deployed, and available unless `--wait 0`", 1: "failed, or not available in time"},
)
UNDEPLOY_EPILOGUE = epilogue(
    """\
# keep the objects of its kinds, and their definitions
pyctrl undeploy podset.py

# remove everything
pyctrl undeploy podset.py --delete-crds
""",
    {0: "removed, or not there", 1: "failed"},
)

deploy_app = CommandLine("deploy", help_epilogue=DEPLOY_EPILOGUE)
undeploy_app = CommandLine("undeploy", help_epilogue=UNDEPLOY_EPILOGUE)


@deploy_app.default
def deploy(
    program: ShippedProgram = None,
    /,
    *,
    wait: Annotated[timedelta, Parameter(metavar="DURATION", converter=duration_or_none)] = timedelta(minutes=2),
    allow_crd_loss: bool = False,
    output: Output = "text",
    flags: PackagingFlags = NO_PACKAGING_FLAGS,
    account: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Deploy a program to a cluster.

    Applies its manifests server-side, in order of installation, removes what an earlier version needed and this one
    does not, and waits until it is available. Definitions are never removed.

    Parameters
    ----------
    wait
        How long to wait until all replicas are available; 0 does not wait.
    allow_crd_loss
        Install a definition even if the one in the cluster loses a version or its conversion.
    """
    from pyctrl.cli._deploy.runner import deploy_program  # here: help needs none of it

    return deploy_program(program, flags, account, wait=wait, allow_crd_loss=allow_crd_loss, output=output)


@undeploy_app.default
def undeploy(
    program: ShippedProgram = None,
    /,
    *,
    delete_crds: bool = False,
    output: Output = "text",
    flags: PackagingFlags = NO_PACKAGING_FLAGS,
    account: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Remove a deployed program from a cluster.

    Removes what `pyctrl deploy` applied: the namespace, too, with all that is in it, if `pyctrl deploy` created it.

    Parameters
    ----------
    delete_crds
        Remove the definitions, too, and with them ALL objects of their kinds in all namespaces.
    """
    from pyctrl.cli._deploy.runner import undeploy_program  # here: help needs none of it

    return undeploy_program(program, flags, account, delete_crds=delete_crds, output=output)
