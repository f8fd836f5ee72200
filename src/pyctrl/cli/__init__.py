"""The command line: `pyctrl …`, thin commands over the rooms.

`main` runs a command and gives its exit code. A command is a function whose parameters are its flags; what it imports,
it imports when it is called.
"""

from ._main import main

__all__ = ["main"]
