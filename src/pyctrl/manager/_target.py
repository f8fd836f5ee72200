"""A program that is named on a command line: a function that wires controllers into a manager."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from pyctrl.client import Config
from pyctrl.errors import CommandFailed
from pyctrl.manager._leader_election import LeaderElection
from pyctrl.manager._manager import Manager
from pyctrl.rbac import Permission

__all__ = ["wired"]

PREFIX = "add_"

Wire = Callable[[Manager], object]


@asynccontextmanager
async def wired(
    target: str, *, namespaces: Collection[str] = (), leader_election: LeaderElection | None = None
) -> AsyncIterator[Manager]:
    """Give a manager with the controllers of a target, restricted to namespaces if there are any. It cannot run.

    A target is ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``, a function that takes a manager; it may be left out where
    there is one only whose name begins with ``add_``. It may also be anything with an attribute ``rbac``, such as the
    class of a program that has no manager.

    Raises:
        CommandFailed: there is no such target, or it fails.
    """
    wire = find(target)
    config = Config.in_process(_NoServer())
    async with Manager(config, namespaces=namespaces or None, leader_election=leader_election) as manager:
        try:
            wire(manager)
        except Exception as error:
            raise CommandFailed(f"{target} failed: {type(error).__name__}: {error}") from error
        yield manager


def find(target: str) -> Wire:
    """Import what a target names.

    Raises:
        CommandFailed: there is no such thing; says what was expected, and what there is instead.
    """
    place, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    module = _import(place)
    if not name:
        return _the_only_one(module, place)
    found: Any = getattr(module, name, None)
    if hasattr(found, "rbac"):
        return lambda manager: manager.add(_Declaration(found.rbac))
    if not callable(found):
        raise CommandFailed(f"{place} has no function {name!r}{_hint('; there is', _candidates(module))}")
    return found  # type: ignore[no-any-return]


def _import(place: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return _import_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{place}.".startswith(f"{error.name}."):
            raise CommandFailed(
                f"there is no module {error.name!r}, seen from {Path.cwd()}; expected MODULE:FUNCTION or "
                "FILE.py:FUNCTION"
            ) from error
        raise CommandFailed(f"importing {place} failed: {type(error).__name__}: {error}") from error


def _import_file(file: Path) -> ModuleType:
    if not file.is_file():
        raise CommandFailed(f"there is no file {file}")
    name = f"pyctrl_target_{file.stem}"  # a file may be called operator.py, which Python has a module of
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # it ends with .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks a class's annotations up in its module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _the_only_one(module: ModuleType, place: str) -> Wire:
    candidates = _candidates(module)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise CommandFailed(
            f"{place} has no function whose name begins with {PREFIX!r}; name the one that wires the controllers into "
            f"a manager: {place}:FUNCTION"
        )
    raise CommandFailed(f"{place} has several functions that may be meant{_hint(':', candidates)}")


def _candidates(module: ModuleType) -> Sequence[Wire]:
    """Return the functions that look as if they wired controllers."""
    own = [each for name, each in vars(module).items() if name.startswith(PREFIX) and inspect.isfunction(each)]
    return [each for each in own if _takes_one(each)]


def _takes_one(function: Callable[..., object]) -> bool:
    required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    return len(required) == 1


def _hint(words: str, candidates: Sequence[Wire]) -> str:
    names = ", ".join(each.__name__ for each in candidates)
    return f"{words} {names}" if names else ""


class _Declaration:
    """What is wired of a program that only says what it needs."""

    def __init__(self, rbac: Sequence[Permission]) -> None:
        self.rbac = rbac

    async def run(self) -> None:
        """Never called: the manager is only looked at."""


class _NoServer:
    """An API server for a manager that is only looked at."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> NoReturn:
        raise CommandFailed(f"wiring the controllers asked the API server ({method} {path}), which it should not")
