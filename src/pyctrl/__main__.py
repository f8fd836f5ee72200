"""`python -m pyctrl`: the command line, where no script of that name is on the path."""

from __future__ import annotations

import sys

from pyctrl.cli import main

if __name__ == "__main__":
    sys.exit(main())
