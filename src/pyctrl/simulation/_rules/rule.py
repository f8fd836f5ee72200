"""A rule: a class of mistakes, how it is recognised, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.simulation._evidence import Act, Evidence
from pyctrl.simulation._fault_words import after
from pyctrl.simulation._history import Called
from pyctrl.simulation._schedule import Fault

__all__ = ["Rule", "action", "leaves", "once", "since", "value_at"]

#: What changes with every write, or is the server's.
_VOLATILE = frozenset({"resourceVersion", "managedFields", "generation", "uid", "creationTimestamp", "selfLink"})


@dataclass(frozen=True, slots=True)
class Rule:
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
    return after(once(evidence))


def action(evidence: Evidence, entry: Act) -> str:
    """Return a write or a call as a noun: ``create Job default/web``."""
    if isinstance(entry, Called):
        return entry.call
    part = f"{entry.subresource} of " if entry.subresource else ""
    return f"{entry.verb} {part}{evidence.name(entry.target)}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each leaf of an object, without what changes with every write."""
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            if not (path == ".metadata" and name in _VOLATILE):
                yield from leaves(each, f"{path}.{name}")
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for place, each in enumerate(value):
            yield from leaves(each, f"{path}[{place}]")
    else:
        yield path, value


def value_at(value: Any, *path: str) -> Any:
    """Return a value inside of an object; None if there is none."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
