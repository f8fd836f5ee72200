"""A rule: a class of mistakes, how it is recognised, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._fault_words import after
from pyctrl.simulation._schedule import Fault

__all__ = ["GuessRule", "once", "since"]


@dataclass(frozen=True, slots=True)
class GuessRule:
    """A class of mistakes.

    Attributes:
        name: What the mistake is, as a sentence without a full stop.
        find: Returns what happened, with names; "" if the evidence does not show this mistake.
        advice: What to do.
    """

    name: str
    find: Callable[[Evidence], str]
    advice: str

    def text(self, evidence: Evidence) -> str:
        """Return the guess; "" if the rule does not apply."""
        found = self.find(evidence)
        return "; ".join(filter(None, (f"{self.name}: {found}", self.advice))) if found else ""


def once(evidence: Evidence) -> Fault | None:
    """Return the first fault that took place; None without any."""
    return evidence.faults[0].fault if evidence.faults else None


def since(evidence: Evidence) -> str:
    """Return the begin of an explanation, such as ``after the lost answer``."""
    if not evidence.faults and not evidence.run.schedule.shuffle:
        return "without any fault"
    return after(once(evidence))
