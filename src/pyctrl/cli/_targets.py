"""Which program a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyctrl.manager import Target

__all__ = ["shipped", "target_of"]


def shipped(target: str | None, watched: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return a program and the namespaces that it watches: as they are named, or as pyproject.toml says.

    Args:
        target: as it was named; None: it was not.
        watched: as they were named; none were: those of the pyproject.toml that the program belongs to.

    Raises:
        CommandFailed: no program is named, on the command line or in pyproject.toml.
    """
    from pyctrl.cli._ship_flags import NO_SHIP_FLAGS

    settings = NO_SHIP_FLAGS.settings(target)
    return (settings.target if target is None else target), watched or settings.watch_namespaces


def target_of(text: str | None, flags: Sequence[str]) -> tuple[Target, list[str], Sequence[str]]:
    """Return the program that is named, or that of pyproject.toml; what the command line has of it; and its own flags.

    Args:
        text: as it was named; None: it was not. What stands here after ``--`` is a flag of the program.
        flags: the program's own.

    Raises:
        CommandFailed: there is no such file; or no program is named.
    """
    from pyctrl.manager import Target  # here and below: help and completion need none of it

    if text is not None and not text.startswith("-"):
        return Target.parse(text), [text], flags
    from pyctrl.cli._ship_flags import NO_SHIP_FLAGS

    return Target.parse(NO_SHIP_FLAGS.settings(None).target), [], flags if text is None else [text, *flags]
