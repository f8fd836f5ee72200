"""A whole program as `pyctrl run` and `pyctrl dev` run it: its manager, its definitions, its webhooks as flags say.

What a program is, and how it is found by its name, is `pyctrl.manager.Target`: a function that wires controllers into
a manager, or the controllers themselves. Nothing here knows a command line.
"""

from ._definitions import custom_kinds, definitions_of, install_definitions
from ._manager import ProgramManager, Serving

__all__ = ["ProgramManager", "Serving", "custom_kinds", "definitions_of", "install_definitions"]
