"""Run the EphemeralVolumeClaim operator against a cluster: ``python -m examples.evc [--install-crds] …``.

The cluster is found as kubectl finds it, or is the one that this runs in. The flags are those of ``pyctrl run``, which
runs it as well: ``pyctrl run examples/evc``.
"""

import sys

from pyctrl.cli import program

from .evc import add_evc

if __name__ == "__main__":
    sys.exit(program(add_evc, name="evc-operator"))
