"""Run the SampleDB operator against a cluster: ``python -m examples.sampledb [--install-crds] [--kubeconfig FILE] …``.

It uses the service account of its pod, or kubectl's kubeconfig. The flags are those of ``pyctrl run``, which runs it
too: ``pyctrl run examples/sampledb``.
"""

import sys

from pyctrl.cli import program

from .reconciler import add_sampledb

if __name__ == "__main__":
    sys.exit(program(add_sampledb, name="sampledb-operator"))
