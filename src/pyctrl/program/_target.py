"""Program named on a command line: a setup function, or classes that declare their controllers."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyctrl._load_errors import loading
from pyctrl.client import Config
from pyctrl.controller import Reconciler
from pyctrl.errors import CommandFailed
from pyctrl.manager import LeaderElection, Manager, NoServer
from pyctrl.program._module import ProgramModule, is_package
from pyctrl.program._pyproject import program_of
from pyctrl.program._setup import (
    PREFIX,
    SetupFunction,
    build_declared,
    declared_setup,
    declares_reconcilers,
    setup_functions,
)
from pyctrl.program._unused_reconcilers import check_class, check_mentioned
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from pyctrl.manager import Sharding

__all__ = ["SetupFunction", "Target", "offline_manager", "run_setup"]


@dataclass(frozen=True, slots=True)
class Target:
    """The name of a program: its module, and its setup function; "" is the only one."""

    place: ProgramModule
    function: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parse ``FILE.py``, ``DIRECTORY`` or ``MODULE``, each with or without ``:FUNCTION``.

        A directory is a package, or a project: then its pyproject.toml names the program.

        Raises:
            CommandFailed: the file does not exist.
        """
        place, _, name = text.rpartition(":") if ":" in text else (text, "", "")
        program = program_of(Path(place)) if place and not is_package(Path(place)) else None
        if program is not None:
            place, _, function = program.partition(":")
            name = name or function
        return cls(ProgramModule.parse(place), name)

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.place.name

    def find(self) -> SetupFunction:
        """Import the program, and return its setup function.

        Raises:
            CommandFailed: the module or function does not exist; the message lists the functions that do.
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
            there = _hint("; it has", setup_functions(module))
            raise CommandFailed(f"{self.place.text} has no function {self.function!r}{there}")
        return found  # type: ignore[no-any-return]

    def _candidate_module(self, module: ModuleType) -> ModuleType:
        """Return the module, or the ``__main__`` of a package without a setup."""
        name = f"{module.__name__}.__main__"
        is_package = hasattr(module, "__path__") and importlib.util.find_spec(name) is not None
        if not is_package or setup_functions(module) or declares_reconcilers(module):
            return module
        return replace(self.place, module=name).load()


@asynccontextmanager
async def offline_manager(
    target: str,
    *,
    namespaces: Collection[str] = (),
    leader_election: LeaderElection | None = None,
    sharding: Sharding | None = None,
) -> AsyncIterator[Manager]:
    """Return a manager with the controllers of a target, restricted to namespaces if there are any. It cannot run.

    A target is ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``. The function takes a manager. It may be left out if only
    one has a name that begins with ``add_``, or if reconciler classes declare everything. A target may also be an
    object with an attribute ``rbac``, such as the class of a program without a manager.

    Raises:
        CommandFailed: the target does not exist, or its setup fails.
    """
    setup = Target.parse(target).find()
    manager = Manager(
        Config.in_process(NoServer()),
        namespaces=namespaces or None,
        leader_election=leader_election,
        sharding=sharding,
    )
    async with manager:
        with loading(f"setting up {target}"):
            setup(manager)
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
            f"{place} has no reconciler class, and no function whose name begins with {PREFIX!r}; write class "
            f"NAME(Reconciler[KIND]), or name the function that adds controllers to a manager: {place}:FUNCTION"
        )
    raise CommandFailed(f"{place} has several setup functions; name one of them{_hint(':', found)}")


def _hint(words: str, functions: Sequence[SetupFunction]) -> str:
    names = ", ".join(each.__name__ for each in functions)
    return f"{words} {names}" if names else ""


class _Declaration:
    """A runnable of a program that only declares its permissions."""

    def __init__(self, rbac: Sequence[Permission]) -> None:
        self.rbac = rbac

    async def run(self) -> None:
        """Never called: the manager is only inspected."""


def run_setup(setup: SetupFunction, manager: Manager, name: str) -> None:
    """Add a program's controllers to a manager.

    Raises:
        CommandFailed: the setup fails; the message has the file, line and an excerpt of the program's code.
    """
    with loading(f"setting up {name}"):
        setup(manager)
