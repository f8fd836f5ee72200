"""`python -m pyctrl`: the command line, without the `pyctrl` script."""

from __future__ import annotations

import sys

from pyctrl.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
