"""Arguments that name files, of which ``-`` is what comes in."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["no_option"]


def no_option(_type: object, given: object) -> None:
    """Refuse what looks like an option: to let ``-`` through, cyclopts has to let everything through."""
    if given is None:
        return
    for each in given if isinstance(given, Iterable) and not isinstance(given, str) else [given]:
        if str(each) != "-" and str(each).startswith("-"):
            raise ValueError(f"unknown option {each}; a file of that name is ./{each}")
