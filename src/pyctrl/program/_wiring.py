"""A program's controllers, put into a manager."""

from __future__ import annotations

from pyctrl._load_errors import loading
from pyctrl.manager import Manager, Wire

__all__ = ["wire_up"]


def wire_up(wire: Wire, manager: Manager, name: str) -> None:
    """Put a program's controllers into a manager.

    Raises:
        CommandFailed: it fails; says how, with file, line and an excerpt of the program's own code.
    """
    with loading(f"wiring {name}"):
        wire(manager)
