"""The command line: `pyctrl …`, thin commands over the rooms.

`main` runs a command and gives its exit code. A command is a function whose parameters are its flags; what it imports,
it imports when it is called. `program` is the command line of one operator, with the flags of `pyctrl run`.
"""

from pyctrl.cli._main import main, program

__all__ = ["main", "program"]
