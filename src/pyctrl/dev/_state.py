"""States of a development session, and the problems of its files."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Problem", "SessionState", "problem_of"]

ARROW = "\n  --> "  # before file and line, in errors of a program that cannot be loaded


class SessionState(Enum):
    """The state of a session."""

    STARTING = "starting"
    RUNNING = "running"
    #: A save is being imported; the previous version finishes its reconciles.
    RELOADING = "reloading"
    #: The last save cannot be loaded; the previous version runs.
    OUTDATED = "running the previous version"
    #: No version runs: the program has failed.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why saved files do not run, or were not applied.

    Attributes:
        message: the error, and what to do.
        place: file, line and column, ``operator.py:21:5``; "" if it has none.
        excerpt: the source line, and a marker below it.
    """

    message: str
    place: str = ""
    excerpt: tuple[str, ...] = ()


def problem_of(text: str) -> Problem:
    """Return the parts of the message of an error that occurred while a program was loaded."""
    message, _, where = text.partition(ARROW)
    place, *excerpt = where.split("\n")
    return Problem(message=message, place=place, excerpt=tuple(line for line in excerpt if line.strip()))
