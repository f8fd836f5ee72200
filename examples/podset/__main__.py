"""Run the PodSet operator against a cluster: ``python -m examples.podset [--install-crds] [--kubeconfig FILE] …``.

The cluster is found as kubectl finds it, or is the one that this runs in. The flags are those of ``pyctrl run``, which
runs it as well: ``pyctrl run examples/podset``.
"""

import sys

from pyctrl.cli import program

from .podset import add_podset

if __name__ == "__main__":
    sys.exit(program(add_podset, name="podset-operator"))
