"""A program that is named on a command line: a function that wires controllers into a manager, or the controllers."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from pyctrl._load_errors import loading
from pyctrl.client import Config
from pyctrl.controller import Reconciler
from pyctrl.errors import CommandFailed
from pyctrl.manager import LeaderElection, Manager, NoServer
from pyctrl.program._module import ProgramModule
from pyctrl.program._setup import PREFIX, SetupFunction, build_declared, declared_setup, setup_functions
from pyctrl.program._unused_reconcilers import check_class, check_mentioned
from pyctrl.rbac import Permission

__all__ = ["SetupFunction", "Target", "offline_manager", "run_setup"]


@dataclass(frozen=True, slots=True)
class Target:
    """A program as it was named: where it is, and which function of it is meant ("": the one there is)."""

    place: ProgramModule
    function: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``FILE.py``, ``DIRECTORY`` or ``MODULE``, each with or without ``:FUNCTION``.

        Raises:
            CommandFailed: there is no such file.
        """
        place, _, name = text.rpartition(":") if ":" in text else (text, "", "")
        return cls(ProgramModule.parse(place), name)

    @property
    def name(self) -> str:
        """What to call the program."""
        return self.place.name

    def find(self) -> SetupFunction:
        """Import what is named, and return what wires its controllers into the manager that it is given.

        Raises:
            CommandFailed: there is no such thing; says what was expected, and what there is instead.
        """
        module = self.place.load()
        if not self.function:
            return _only_setup_function(self._candidate_module(module), self.place.text)
        found: Any = getattr(module, self.function, None)
        if isinstance(found, type) and issubclass(found, Reconciler):
            check_class(found)
            return lambda manager: build_declared(manager, [found])
        if hasattr(found, "rbac"):
            return lambda manager: manager.add(_Declaration(found.rbac))
        if not callable(found):
            there = _hint("; there is", setup_functions(module))
            raise CommandFailed(f"{self.place.text} has no function {self.function!r}{there}")
        return found  # type: ignore[no-any-return]

    def _candidate_module(self, module: ModuleType) -> ModuleType:
        """Return the module, or the ``__main__`` of a package that wires nothing itself."""
        name = f"{module.__name__}.__main__"
        is_package = hasattr(module, "__path__") and importlib.util.find_spec(name) is not None
        if not is_package or setup_functions(module) or declared_setup(module) is not None:
            return module
        return replace(self.place, module=name).load()


@asynccontextmanager
async def offline_manager(
    target: str, *, namespaces: Collection[str] = (), leader_election: LeaderElection | None = None
) -> AsyncIterator[Manager]:
    """Give a manager with the controllers of a target, restricted to namespaces if there are any. It cannot run.

    A target is ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``, a function that takes a manager; it may be left out where
    there is one only whose name begins with ``add_``, or where the classes of reconcilers say it all themselves. It
    may also be anything with an attribute ``rbac``, such as the class of a program that has no manager.

    Raises:
        CommandFailed: there is no such target, or it fails.
    """
    wire = Target.parse(target).find()
    manager = Manager(Config.in_process(NoServer()), namespaces=namespaces or None, leader_election=leader_election)
    async with manager:
        with loading(f"wiring {target}"):
            wire(manager)
        yield manager


def _only_setup_function(module: ModuleType, place: str) -> SetupFunction:
    found = setup_functions(module)
    if len(found) == 1:
        check_mentioned([module])
        return found[0]
    if not found and (declared := declared_setup(module)) is not None:
        return declared
    if not found:
        raise CommandFailed(
            f"{place} has no function whose name begins with {PREFIX!r}; name the one that wires the controllers into "
            f"a manager: {place}:FUNCTION"
        )
    raise CommandFailed(f"{place} has several functions that may be meant{_hint(':', found)}")


def _hint(words: str, functions: Sequence[SetupFunction]) -> str:
    names = ", ".join(each.__name__ for each in functions)
    return f"{words} {names}" if names else ""


class _Declaration:
    """What is wired of a program that only says what it needs."""

    def __init__(self, rbac: Sequence[Permission]) -> None:
        self.rbac = rbac

    async def run(self) -> None:
        """Never called: the manager is only looked at."""


def run_setup(wire: SetupFunction, manager: Manager, name: str) -> None:
    """Put a program's controllers into a manager.

    Raises:
        CommandFailed: it fails; says how, with file, line and an excerpt of the program's own code.
    """
    with loading(f"wiring {name}"):
        wire(manager)
