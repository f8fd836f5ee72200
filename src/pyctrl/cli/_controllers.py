"""Names of controllers on the command line."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from pyctrl.errors import CommandFailed

__all__ = ["check_controllers"]


def check_controllers(names: Collection[str]) -> None:
    """Check the names of the flag `--controller-name`.

    Raises:
        CommandFailed: There is no controller of one of the names.
    """
    if not names:
        return
    from pyctrl.cluster import ControllerName  # here: slow, and most commands run all controllers or none

    known = get_args(ControllerName)
    for name in names:
        if name not in known:
            raise CommandFailed(f"--controller-name {name}: there is no such controller; there are {', '.join(known)}")
