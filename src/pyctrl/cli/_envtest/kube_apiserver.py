"""`kube-apiserver` of `pyctrl envtest`: pyctrl's API server under the flags of kube-apiserver.

Its start is what each test suite waits for, so it imports neither cyclopts nor what the flags do not need.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from pyctrl.cli._envtest.kube_apiserver_flags import FLAGS, FlagError, parse_flags

__all__ = ["ALL_CONTROLLERS", "CONTROLLERS", "KUBELET", "NODES", "POD_SCRIPT", "VERSION", "main"]

VERSION = "v1.36.2"

# Variables of the environment that start more than an API server, unless they are empty.
CONTROLLERS = "PYCTRL_ENVTEST_CONTROLLERS"  # names of controllers, separated by commas, or ALL_CONTROLLERS
ALL_CONTROLLERS = "1"
KUBELET = "PYCTRL_ENVTEST_KUBELET"
NODES = "PYCTRL_ENVTEST_NODES"  # their number
POD_SCRIPT = "PYCTRL_ENVTEST_POD_SCRIPT"  # MODULE:FUNCTION or FILE.py:FUNCTION, for the containers of the kubelet

GARBAGE_THRESHOLD = 50_000  # objects; collections during imports take 8 % of the start

HELP = """\
kube-apiserver of pyctrl envtest: an API server in memory. It accepts all flags of kube-apiserver, and reports those
that have no effect.

Flags:

"""


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal; return the exit code."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        flags = parse_flags(arguments)
    except FlagError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    if flags.flag("help"):
        print(HELP + "\n".join(_usage()))
        return 0
    if flags.text("version", "false") != "false":
        print(f"Kubernetes {VERSION}")
        return 0
    from pyctrl.cli._envtest.kube_apiserver_runner import KubeAPIServerRunner  # here: --help needs none of it
    from pyctrl.errors import PyctrlError

    try:
        return KubeAPIServerRunner(flags).main()
    except (PyctrlError, OSError) as error:
        print(f"kube-apiserver: command failed: {error}", file=sys.stderr)
        return 1


def _usage() -> list[str]:
    """Return the flags, one a line, as envtest searches them in the help of kube-apiserver."""
    return [f"      --{name}{'' if kind == 'bool' else ' ' + kind}" for name, kind in sorted(FLAGS.items())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
