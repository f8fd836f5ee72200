"""Command line `pyctrl`: thin commands over the other packages.

`main` runs a command and returns its exit code. A command is a function whose parameters are its flags. It imports the
packages that it needs when it is called. `program` is the command line of one operator, with the flags of `pyctrl run`.
"""

from pyctrl.cli._main import main, program

__all__ = ["main", "program"]
