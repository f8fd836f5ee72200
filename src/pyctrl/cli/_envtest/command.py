"""`pyctrl envtest`: the API server for test suites that start etcd and kube-apiserver, as Go's envtest does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._pod_script import PodScript
from pyctrl.cli._shared_flags import NodeCount

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
KUBEBUILDER_ASSETS="$(pyctrl envtest)" go test ./...

# the same for all tests of this shell
eval "$(pyctrl envtest --print env)"
go test ./...

# with garbage collection, namespaces that end, Deployments and so on
KUBEBUILDER_ASSETS="$(pyctrl envtest --controllers)" go test ./...

# with pods on a simulated node, whose containers do what a function says
KUBEBUILDER_ASSETS="$(pyctrl envtest --pod-script containers.py:script)" go test ./...

# with garbage collection only
KUBEBUILDER_ASSETS="$(pyctrl envtest --controller-name garbage-collector-controller)" go test ./...
""",
    {0: "printed", 1: "the directory cannot be written"},
)

app = CommandLine("envtest", help_epilogue=EPILOGUE)


@app.default
def envtest(
    *,
    print: Annotated[Literal["path", "env", "overview"], Parameter(name=("--print", "-p"), metavar="FORM")] = "path",
    bin_dir: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    controllers: bool = False,
    controller_name: Annotated[tuple[str, ...], Parameter(metavar="NAME")] = (),
    kubelet: bool = False,
    nodes: NodeCount | None = None,
    pod_script: PodScript = None,
) -> None:
    """Print a directory for `KUBEBUILDER_ASSETS`.

    It has the executables `etcd`, `kube-apiserver` and `kubectl`, with which envtest of controller-runtime, and its
    relatives in other languages, run pyctrl's API server. It is ready in under a second and keeps its objects in
    memory. Nothing is downloaded.

    Parameters
    ----------
    print
        What to print: the `path`; `env`, a line for a shell that exports `KUBEBUILDER_ASSETS`; or an `overview`.
    bin_dir
        The directory of the executables. Defaults to one for this installation below `~/.cache/pyctrl/envtest`.
    controllers
        Run the controllers of a cluster: garbage collection, namespaces, Deployments and so on, beside each API server.
        envtest has none.
    controller_name
        Run this controller, by kube-controller-manager's name, and no others. May be repeated.
    kubelet
        Run pods on simulated nodes. Each API server has its own. No container is started.
    nodes
        How many nodes there are. Each API server has as many. Implies `--kubelet`.
    pod_script
        A Python function that says what the containers do: the commands of `kubectl exec`, the ports of `kubectl
        port-forward`, the logs. Implies `--kubelet`.
    """
    from pyctrl.cli._envtest.printer import print_assets  # here: help and completion need none of it

    print_assets(
        print,
        bin_dir,
        controllers=controllers,
        names=controller_name,
        kubelet=kubelet,
        nodes=nodes,
        pod_script=pod_script,
    )
