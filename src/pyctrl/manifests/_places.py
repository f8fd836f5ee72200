"""Where in the types a schema is made, and what is wrong there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pyctrl._excerpts import Excerpt
from pyctrl.errors import DefinitionError
from pyctrl.manifests._sources import source_of

__all__ = ["Place", "Problems", "definition_error"]

_BEGINNING = re.compile(r"(?P<file>\S.*?):(?P<line>\d+) ")


@dataclass(frozen=True, slots=True)
class Place:
    """A class, one of its fields, and the way from the field to a part of its type, such as ``[]``."""

    cls: type[object]
    field: str = ""
    below: str = ""
    #: The classes on the way from the kind, outermost first.
    within: tuple[type[object], ...] = ()

    def part(self, below: str) -> Place:
        """Return the place of a part of the field's type."""
        return replace(self, below=self.below + below)

    def __str__(self) -> str:
        name = ".".join(filter(None, (self.cls.__name__, self.field))) + self.below
        return " ".join(filter(None, (source_of(self.cls).location(self.field), name)))


@dataclass(slots=True)
class Problems:
    """What is wrong with the types, collected: one error tells all of it."""

    found: list[str] = field(default_factory=list)

    def report(self, place: Place, what: str, cure: str = "") -> None:
        """Add a problem: ``what`` goes on after the place, ``cure`` says what to do."""
        line = f"{place}: {what}" + (f"; {cure}" if cure else "")
        if line not in self.found:
            self.found.append(line)


def definition_error(subject: str, problems: Iterable[str]) -> DefinitionError:
    """Return the error of problems that begin with their place, each with its line of source."""
    lines, excerpts = list(problems), []
    for problem in lines:
        found = _BEGINNING.match(problem)
        source = Excerpt(found["file"], int(found["line"])).source if found else ""
        excerpts.append("" if source in excerpts else source)
    return DefinitionError(subject, lines, excerpts)
