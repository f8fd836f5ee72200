"""Run the EphemeralVolumeClaim operator against a cluster: ``python -m examples.evc [--install-crds] …``.

It uses the service account of its pod, or kubectl's kubeconfig. The flags are those of ``pyctrl run``, which runs it
too: ``pyctrl run examples/evc``.
"""

import sys

from pyctrl.cli import program

from .evc import add_evc

if __name__ == "__main__":
    sys.exit(program(add_evc, name="evc-operator"))
