"""`pyctrl deploy` and `pyctrl undeploy`: install a program in a cluster, and remove it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CONFIG_FLAGS, ConfigFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._durations import duration_or_none
from pyctrl.cli._packaging_flags import NO_INSTANCE_FLAGS, NO_PACKAGING_FLAGS, InstanceFlags, PackagingFlags
from pyctrl.cli._shared_flags import Output, ShippedProgram

__all__ = ["deploy_app", "undeploy_app"]

DEPLOY_EPILOGUE = epilogue(
    """\
pyctrl deploy podset.py --image registry.example/podset:0.1.0

# preview the objects, and the changes in the cluster
pyctrl manifests podset.py --image registry.example/podset:0.1.0 -o yaml
pyctrl manifests podset.py --image registry.example/podset:0.1.0 --diff
""",
    {0: "deployed, and available unless `--wait 0`", 1: "failed, or not available in time"},
)
UNDEPLOY_EPILOGUE = epilogue(
    """\
# keep the CRDs and their objects
pyctrl undeploy podset.py

# remove everything
pyctrl undeploy podset.py --delete-crds
""",
    {0: "removed, or not found", 1: "failed"},
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
    login: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Deploy a program to a cluster.

    Applies its manifests server-side, in installation order, removes objects that only an earlier version needed, and
    waits until the Deployment is available. CRDs are never removed.

    Parameters
    ----------
    wait
        How long to wait until all replicas are available; 0 does not wait.
    allow_crd_loss
        Install a CRD even if the one in the cluster loses a version or its conversion.
    """
    from pyctrl.cli._deploy.runner import deploy_program  # here: help needs none of it

    return deploy_program(program, flags, login, wait=wait, allow_crd_loss=allow_crd_loss, output=output)


@undeploy_app.default
def undeploy(
    program: ShippedProgram = None,
    /,
    *,
    delete_crds: bool = False,
    output: Output = "text",
    flags: InstanceFlags = NO_INSTANCE_FLAGS,
    login: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Remove a deployed program from a cluster.

    Removes the objects that `pyctrl deploy` applied. If `pyctrl deploy` created the namespace, it is removed with
    everything in it.

    Parameters
    ----------
    delete_crds
        Remove the CRDs, too, and with them ALL objects of their kinds in all namespaces.
    """
    from pyctrl.cli._deploy.runner import undeploy_program  # here: help needs none of it

    return undeploy_program(program, flags, login, delete_crds=delete_crds, output=output)
