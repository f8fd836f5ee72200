"""`pyctrl dev`: a program in an in-process cluster, reloaded when its files are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from pyctrl.cli._command_line import NEGATABLE, CommandLine, epilogue
from pyctrl.cli._log_flags import NO_LOG_FLAGS, LogFlags
from pyctrl.cli._pod_script import PodScript
from pyctrl.cli._shared_flags import NodeCount, ShippedProgram

__all__ = ["app"]

CLUSTER = Group("Cluster", sort_key=1)
SCREEN = Group("Display", sort_key=2)

EPILOGUE = epilogue(
    """\
# the program of this project, or another one
pyctrl dev
pyctrl dev examples/podset

# in another terminal, with the line that pyctrl dev prints
export KUBECONFIG=~/.cache/pyctrl/operator.kubeconfig
kubectl get podsets --watch

# flags of the program itself
pyctrl dev examples/evc -- --storage-class fast
""",
    {
        0: "stopped by `q` or a signal",
        1: "could not start",
        130: "interrupted by Ctrl-C before it was ready (SIGTERM: 143)",
    },
)

app = CommandLine("dev", help_epilogue=EPILOGUE)


@app.default
def dev(
    target: ShippedProgram = None,
    /,
    *program_flags: Annotated[str, Parameter(show=False)],
    apply: Annotated[tuple[Path, ...], Parameter(group=CLUSTER, metavar="FILE|DIR")] = (),
    samples: Annotated[bool, Parameter(group=CLUSTER, negative_bool=NEGATABLE)] = True,
    rbac: Annotated[bool, Parameter(group=CLUSTER, negative_bool=NEGATABLE)] = True,
    controllers: Annotated[bool, Parameter(group=CLUSTER, negative_bool=NEGATABLE)] = True,
    kubelet: Annotated[bool, Parameter(group=CLUSTER, negative_bool=NEGATABLE)] = True,
    nodes: Annotated[NodeCount, Parameter(group=CLUSTER)] = 1,
    pod_script: Annotated[PodScript, Parameter(group=CLUSTER)] = None,
    port: Annotated[int, Parameter(group=CLUSTER, metavar="PORT", validator=Number(gte=0, lte=65535))] = 0,
    write_kubeconfig: Annotated[
        Path | None, Parameter(name=("--write-kubeconfig", "--kubeconfig-out"), group=CLUSTER, metavar="FILE")
    ] = None,
    force: Annotated[bool, Parameter(group=CLUSTER)] = False,
    live: Annotated[bool | None, Parameter(group=SCREEN, negative_bool=NEGATABLE)] = None,
    logs: LogFlags = NO_LOG_FLAGS,
) -> int:
    """Run a program in an in-process cluster, reloading on save.

    Starts an in-memory API server with the controllers of a cluster, installs the program's CRDs, grants the program
    the permissions that its code declares and no others, registers its webhooks, applies samples, and writes a
    kubeconfig for kubectl. When a file is saved, the program is imported again. Objects and caches stay. If the import
    fails, the error is shown and the previous version keeps running.

    On a terminal it shows errors, controllers and objects, if `pyctrl-runtime[dev]` is installed: press Enter for the
    details of an object, `?` for the keys, `q` to quit. Otherwise it prints `ready URL` and `export KUBECONFIG=FILE`,
    and logs to stderr.

    Parameters
    ----------
    program_flags
        Flags of the program itself.
    apply
        Apply these objects at start, instead of the samples. May be repeated.
    samples
        Apply `config/samples` or `config/sample.yaml` of the program, or a generated sample of each kind.
    rbac
        Restrict the program to the permissions that its code declares.
    controllers
        Run the controllers of a cluster: garbage collection, Deployments, Jobs and so on.
    kubelet
        Run pods on simulated nodes. No container is started.
    nodes
        How many nodes there are.
    pod_script
        A Python function that says what the containers do: the commands of `kubectl exec`, the ports of `kubectl
        port-forward`. `pyctrl.cluster:host_script` runs the commands on this machine.
    port
        The port of the API server; 0 picks a free one.
    write_kubeconfig
        Where to write the kubeconfig of an administrator. Defaults to `~/.cache/pyctrl/NAME.kubeconfig`.
    force
        Overwrite the file of `--write-kubeconfig` even if pyctrl did not write it.
    live
        Show the screen. Defaults to true on a terminal.
    """
    from pyctrl.cli._dev.runner import DevRunner  # here: help and completion need none of it
    from pyctrl.cli._packaging_flags import find_program
    from pyctrl.program import Target

    program, named, own = find_program(target, program_flags)
    return DevRunner(
        target=Target.parse(program),
        named=named,
        program_flags=own,
        apply=apply or (None if samples else ()),
        rbac=rbac,
        controllers=controllers,
        kubelet=kubelet,
        nodes=nodes,
        pod_script=pod_script,
        port=port,
        kubeconfig_out=write_kubeconfig,
        force=force,
        live=live,
        logs=logs,
    ).main()
