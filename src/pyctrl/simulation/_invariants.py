"""Invariants: what a user says must always hold, or must hold in the end, of the world of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["Check", "Invariant", "always", "eventually"]

#: Returns False, or raises an AssertionError, if the invariant is broken; None counts as True.
Check = Callable[["World"], "bool | Awaitable[bool | None] | None"]


@dataclass(frozen=True, slots=True)
class Invariant:
    """Something that must hold. `always` and `eventually` make one.

    Attributes:
        name: What must hold, as it is printed when it does not.
        check: Looks at the world.
        when: Whether it is checked after every change, or at the end.
    """

    name: str
    check: Check
    when: Literal["always", "eventually"]


def always(name: str, check: Callable[[World], bool | None]) -> Invariant:
    """Return an invariant that holds at all times: it is checked after every change of an object on the server.

    The check is an ordinary function. It must not change the world. Keep it quick: a run has hundreds of changes.

        always("at most one Job", lambda world: len(world.objects(Job)) <= 1)

    Args:
        name: What must hold, as it is printed when it does not.
        check: Returns False, or raises an AssertionError, if it does not hold.
    """
    return Invariant(name, check, "always")


def eventually(name: str, check: Check) -> Invariant:
    """Return an invariant that holds at the end of every run, when faults are over and the world is at rest.

    Args:
        name: What must hold, as it is printed when it does not.
        check: Returns False, or raises an AssertionError, if it does not hold; it may be async.
    """
    return Invariant(name, check, "eventually")
