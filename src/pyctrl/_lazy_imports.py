"""How the door of a room, its `__init__`, imports a name when it is first used (PEP 562).

A program pays at its start for what it uses, not for what the room has. A door says::

    if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
        __getattr__, __dir__ = lazy_names(__name__, {"name": "_file"})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names", "lazy_search"]

ModuleHooks = tuple[Callable[[str], Any], Callable[[], list[str]]]


def lazy_names(room: str, files: Mapping[str, str]) -> ModuleHooks:
    """Return a door's `__getattr__` and `__dir__`, for names that are said to be in files of the room."""

    def find(name: str) -> Any:
        if name not in files:
            raise _no_attribute(room, name)
        return getattr(import_module(f"{room}.{files[name]}"), name)

    return _hooks(room, find)


def lazy_search(room: str, files: Sequence[str]) -> ModuleHooks:
    """Return the same for the names in the room's `__all__`, of files that are looked through from the left.

    Each file imports those before it, so that finding a name imports nothing that it does not need.
    """

    def find(name: str) -> Any:
        if name not in sys.modules[room].__all__:
            raise _no_attribute(room, name)
        modules = (import_module(f"{room}.{file}") for file in files)
        return next(getattr(module, name) for module in modules if name in module.__all__)

    return _hooks(room, find)


def _hooks(room: str, find: Callable[[str], Any]) -> ModuleHooks:
    def get(name: str) -> Any:
        value = find(name)
        setattr(sys.modules[room], name, value)
        return value

    def names() -> list[str]:
        module = sys.modules[room]
        return sorted({*vars(module), *module.__all__})

    return get, names


def _no_attribute(room: str, name: str) -> AttributeError:
    return AttributeError(f"module {room!r} has no attribute {name!r}")
