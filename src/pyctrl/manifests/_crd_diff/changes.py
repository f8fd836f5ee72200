"""What a change of a definition does to the objects that are stored, and to who reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["DefinitionChange", "Effect", "has_breaking_changes"]

#: `breaking`: objects that are stored lose data or are refused when they are written again, or clients that work stop
#: working. `risky`: objects stay valid, and something else is not as it was. `harmless`: nobody needs to care.
Effect: TypeAlias = Literal["breaking", "risky", "harmless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionChange:
    """One difference between two forms of a definition.

    `code` names what changed and stays the same from release to release (`field-removed`), for programs. `version` is
    the version of the definition it is in, "" where it concerns all of them. `path` is the place: of a field of the
    objects (`spec.ports[].port`; `[]` any item of a list, `*` any key of a map), or of the definition.
    """

    effect: Effect
    code: str
    path: str
    message: str
    version: str = ""

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.version, self.path)))
        return f"{self.effect} {self.code} {place}: {self.message}"


def has_breaking_changes(changes: Iterable[DefinitionChange]) -> bool:
    """Say whether one of the changes is breaking."""
    return any(change.effect == "breaking" for change in changes)
