"""A program's controllers, put into a manager."""

from __future__ import annotations

from pyctrl.errors import CommandFailed, PyctrlError
from pyctrl.manager import Manager, Wire

__all__ = ["wire_up"]


def wire_up(wire: Wire, manager: Manager, name: str, *, hint: str = "") -> None:
    """Put a program's controllers into a manager.

    Raises:
        CommandFailed: it fails; says how, and the hint.
    """
    try:
        wire(manager)
    except PyctrlError:
        raise
    except Exception as error:
        raise CommandFailed(f"wiring {name} failed: {type(error).__name__}: {error}{hint}") from error
