"""Scenario named on a command line: a function of a file, or objects in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from pyctrl.errors import CommandFailed
from pyctrl.program import ProgramModule, manifest_files, read_manifests

__all__ = ["Scenario", "load_scenario"]

Scenario = Callable[..., Any] | Sequence[dict[str, Any]]

EXPECTED = "--scenario: expected FILE.py:FUNCTION or FILE.yaml"


def load_scenario(text: str) -> Scenario:
    """Return an async function, or the objects of a file or directory in order.

    Raises:
        CommandFailed: the file, or its function, does not exist, or is no scenario; the message says what is.
    """
    place, colon, name = text.rpartition(":")
    if colon and (place.endswith(".py") or not Path(text).exists()):
        return _function(place, name)
    path = Path(text)
    if not path.exists():
        raise CommandFailed(f"{EXPECTED}; {text} does not exist")
    if path.suffix == ".py":
        return _only_function(text)
    return [manifest.obj for file in manifest_files(path) for manifest in read_manifests(file)]


def _function(place: str, name: str) -> Scenario:
    found = getattr(ProgramModule.parse(place).load(), name, None)
    if not iscoroutinefunction(found):
        what = "no function" if found is None else "no async function"
        raise CommandFailed(f"--scenario: {place} has {what} {name!r}{_hint(place)}")
    return found


def _only_function(place: str) -> Scenario:
    functions = _functions(place)
    if len(functions) != 1:
        raise CommandFailed(f"{EXPECTED}; got {place}{_hint(place)}")
    return functions[0]


def _functions(place: str) -> list[Callable[..., Any]]:
    module = ProgramModule.parse(place).load()
    own = [each for each in vars(module).values() if iscoroutinefunction(each) and each.__module__ == module.__name__]
    return [each for each in own if not each.__name__.startswith("_")]


def _hint(place: str) -> str:
    names = ", ".join(each.__name__ for each in _functions(place))
    return f"; it has {names}" if names else "; write: async def scenario(client: Client) -> None"
