"""Run the PodSet operator against a cluster: ``python -m examples.podset [--install-crds] [--kubeconfig FILE] …``.

It uses the service account of its pod, or kubectl's kubeconfig. The flags are those of ``pyctrl run``, which runs it
too: ``pyctrl run examples/podset``.
"""

import sys

from pyctrl.cli import program

from .podset import add_podset

if __name__ == "__main__":
    sys.exit(program(add_podset, name="podset-operator"))
