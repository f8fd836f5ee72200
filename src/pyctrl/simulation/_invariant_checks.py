"""Checks the user's invariants while a run goes on, and at its end."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyctrl.simulation._invariants import Invariant

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["InvariantChecks"]


class InvariantChecks:
    """The invariants of one run. Each is reported once, when it breaks first."""

    def __init__(self, world: World, invariants: Sequence[Invariant]) -> None:
        self._world = world
        self._always = [each for each in invariants if each.when == "always"]
        self._eventually = [each for each in invariants if each.when == "eventually"]
        self._broken: dict[str, str] = {}
        self._is_checking = False
        if self._always:
            world.on_change = self._check_always

    @property
    def broken(self) -> tuple[tuple[str, str], ...]:
        """The names of broken invariants, each with when and why it broke."""
        return tuple(self._broken.items())

    def _check_always(self) -> None:
        if self._is_checking:
            return
        self._is_checking = True
        try:
            for invariant in self._always:
                if invariant.name not in self._broken:
                    self._judge(invariant, self._result(invariant))
        finally:
            self._is_checking = False

    async def end(self) -> None:
        """Check what must hold in the end."""
        for invariant in self._eventually:
            result = self._result(invariant)
            if inspect.isawaitable(result):
                try:
                    result = await result
                except Exception as error:  # noqa: BLE001 - of the check
                    result = error
            self._judge(invariant, result)

    def _result(self, invariant: Invariant) -> object:
        """Return what a check returns, or the exception that it raises."""
        try:
            return invariant.check(self._world)
        except Exception as error:  # noqa: BLE001 - of the check
            return error

    def _judge(self, invariant: Invariant, result: object) -> None:
        if isinstance(result, AssertionError):
            why = str(result)
        elif isinstance(result, Exception):
            why = f"the check raised {type(result).__name__}: {result}"
        elif result is False:
            why = ""
        else:
            return
        when = f"at {self._world.now:.3f} s" if invariant.when == "always" else "in the end"
        self._broken[invariant.name] = f"{when}: {why}" if why else when
