"""Scenario named on a command line: a function or a list of a Python file, or a file of objects."""

from __future__ import annotations

from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import Any

from pyctrl.errors import CommandFailed
from pyctrl.program import ProgramModule

__all__ = ["load_scenario"]

EXPECTED = "--scenario: expected FILE.py:FUNCTION or FILE.yaml"


def load_scenario(text: str) -> Any:
    """Return an async function or a list of a Python file, or the path of a file or directory of objects.

    Raises:
        CommandFailed: the file, or the function in it, does not exist; the message says which there are.
    """
    place, colon, name = text.rpartition(":")
    if colon and (place.endswith(".py") or not Path(text).exists()):
        return _named(place, name)
    if not Path(text).exists():
        raise CommandFailed(f"{EXPECTED}; {text} does not exist")
    return _only_function(text) if text.endswith(".py") else Path(text)


def _named(place: str, name: str) -> Any:
    module = ProgramModule.parse(place).load()
    found = getattr(module, name, None)
    if not iscoroutinefunction(found) and not isinstance(found, list | tuple):
        what = "has no" if found is None else "has something else than an async function or a list by the name of"
        raise CommandFailed(f"--scenario: {place} {what} {name}{_hint(module)}")
    return found


def _only_function(place: str) -> Any:
    module = ProgramModule.parse(place).load()
    functions = _functions(module)
    if len(functions) != 1:
        raise CommandFailed(f"{EXPECTED}; got {place}{_hint(module)}")
    return functions[0]


def _functions(module: ModuleType) -> list[Any]:
    own = [each for each in vars(module).values() if iscoroutinefunction(each) and each.__module__ == module.__name__]
    return [each for each in own if not each.__name__.startswith("_")]


def _hint(module: ModuleType) -> str:
    names = ", ".join(each.__name__ for each in _functions(module))
    return f"; it has {names}" if names else "; write: async def scenario(client: Client) -> None"
