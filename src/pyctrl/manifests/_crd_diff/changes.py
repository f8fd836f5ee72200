"""Changes of a definition, and their effect on stored objects and on clients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["DefinitionChange", "Effect", "has_breaking_changes"]

#: `breaking`: stored objects lose data or are rejected when they are written again, or working clients fail.
#: `risky`: objects stay valid, but something else behaves differently. `harmless`: no action is needed.
Effect: TypeAlias = Literal["breaking", "risky", "harmless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionChange:
    """One difference between two revisions of a definition.

    `code` identifies the kind of change (`field-removed`) and is stable between releases. `version` is the version of
    the definition that changed, "" if all are affected. `path` is the place: a field of the objects
    (`spec.ports[].port`; `[]` is any item of a list, `*` any key of a map), or of the definition.
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
    """Return whether any of the changes is breaking."""
    return any(change.effect == "breaking" for change in changes)
