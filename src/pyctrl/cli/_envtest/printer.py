"""Output of `pyctrl envtest`, in the forms of setup-envtest."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Literal

from pyctrl._distribution import version
from pyctrl.cli._controllers import check_controllers
from pyctrl.cli._envtest.binary_assets import default_directory, write_binary_assets
from pyctrl.cli._envtest.kube_apiserver import CONTROLLERS, KUBELET, NODES, POD_SCRIPT, VERSION
from pyctrl.cli._pod_script import absolute_pod_script

__all__ = ["print_assets"]


def print_assets(
    form: Literal["path", "env", "overview"],
    directory: Path | None,
    *,
    controllers: bool,
    names: tuple[str, ...],
    kubelet: bool,
    nodes: int | None,
    pod_script: str | None,
) -> None:
    """Write the executables, and print their directory.

    Raises:
        CommandFailed: the directory cannot be written, or there is no controller or no script of such a name.
    """
    check_controllers(names)
    variables = {
        CONTROLLERS: ",".join(sorted(names)) or ("1" if controllers else ""),
        KUBELET: "1" if kubelet else "",
        NODES: str(nodes or ""),
        POD_SCRIPT: absolute_pod_script(pod_script),
    }
    environment = {name: value for name, value in variables.items() if value}
    directory = directory.absolute() if directory is not None else default_directory(environment)
    write_binary_assets(directory, environment)
    if form == "path":
        sys.stdout.write(f"{directory}\n")
    elif form == "env":
        sys.stdout.write(f"export KUBEBUILDER_ASSETS={shlex.quote(str(directory))}\n")
    else:
        sys.stdout.write(f"Version: {VERSION.removeprefix('v')} (pyctrl {version()})\nPath: {directory}\n")
