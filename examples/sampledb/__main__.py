"""Run the SampleDB operator against a cluster: ``python -m examples.sampledb [--install-crds] [--kubeconfig FILE] …``.

The cluster is found as kubectl finds it, or is the one that this runs in. The flags are those of ``pyctrl run``, which
runs it as well: ``pyctrl run examples/sampledb``.
"""

import sys

from pyctrl.cli import program

from .reconciler import add_sampledb

if __name__ == "__main__":
    sys.exit(program(add_sampledb, name="sampledb-operator"))
