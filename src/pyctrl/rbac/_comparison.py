"""Comparison of granted permissions with recorded accesses: missing, unused and wildcard permissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyctrl.api import Access, AccessRule
from pyctrl.rbac._grants import CLUSTER, Grants
from pyctrl.rbac._recording import ANY_NAMESPACE, RecordedAccess, is_default_access, merge_recordings

__all__ = ["PermissionComparison", "Wildcard", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wildcard:
    """A granted permission with a ``*``, and the accesses that used it, which could be granted instead."""

    access: Access
    used: tuple[Access, ...]

    def __str__(self) -> str:
        used = ", ".join(f"{access.verb} {access.qualified_resource or access.path}" for access in self.used)
        return f"{self.access} (used: {used or 'nothing'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionComparison:
    """The differences between granted permissions and recorded accesses.

    Attributes:
        missing: recorded and not granted.
        unused: granted and not recorded. Permissions that are not essential, such as `EVENTS`, are left out: a program
            uses them occasionally, and a test run need not exercise them.
        wildcards: granted with a ``*``, with the accesses that used them.
    """

    missing: tuple[RecordedAccess, ...]
    unused: tuple[Access, ...]
    wildcards: tuple[Wildcard, ...]

    def lines(self) -> list[str]:
        """Return one line for each difference; it names the permission."""
        return [
            *(f"missing: {asked}" for asked in self.missing),
            *(f"unused: {access}" for access in self.unused),
            *(f"wildcard: {wildcard}" for wildcard in self.wildcards),
        ]


def compare(granted: Grants, asked: Iterable[RecordedAccess]) -> PermissionComparison:
    """Compare granted permissions with recorded accesses. Accesses that every user has are left out."""
    wanted = [each for each in merge_recordings(asked) if not is_default_access(each.access)]
    atoms = list(_atoms(granted))
    exact = [(namespace, atom) for namespace, atom in atoms if not _is_wildcard(atom)]
    broad = [(namespace, atom) for namespace, atom in atoms if _is_wildcard(atom)]
    return PermissionComparison(
        missing=tuple(lacking for each in wanted if (lacking := _lacking(each, atoms))),
        unused=tuple(
            sorted(_access(*atom) for atom in exact if not _used(*atom, wanted) and not _is_optional(*atom, granted))
        ),
        wildcards=tuple(
            sorted((Wildcard(access=_access(*atom), used=_used(*atom, wanted)) for atom in broad), key=_shown)
        ),
    )


def _atoms(granted: Grants) -> Iterator[tuple[str, AccessRule]]:
    for namespace, rules in granted.rules.items():
        for rule in rules:
            for atom in rule.atoms():
                yield namespace, atom


def _lacking(asked: RecordedAccess, atoms: Sequence[tuple[str, AccessRule]]) -> RecordedAccess | None:
    """Return the part of an access that is not granted. Names are kept only if some of them are granted."""
    names = frozenset(access.name for access in asked.each() if not any(_allows(*atom, access) for atom in atoms))
    if not names:
        return None
    return replace(asked, names=frozenset([""]) if names == asked.names else names)


def _used(namespace: str, atom: AccessRule, asked: Iterable[RecordedAccess]) -> tuple[Access, ...]:
    return tuple(each.access for each in asked if any(_allows(namespace, atom, access) for access in each.each()))


def _allows(namespace: str, atom: AccessRule, access: Access) -> bool:
    holds = namespace in (CLUSTER, access.namespace) or access.namespace == ANY_NAMESPACE
    return holds and atom.allows(access)


def _is_optional(namespace: str, atom: AccessRule, granted: Grants) -> bool:
    return any(rule.covers(atom) for rule in granted.optional.get(namespace, ()))


def _is_wildcard(atom: AccessRule) -> bool:
    return any("*" in value for value in (*atom.verbs, *atom.groups, *atom.resources, *atom.paths))


def _access(namespace: str, atom: AccessRule) -> Access:
    return next(atom.accesses(namespace))


def _shown(wildcard: Wildcard) -> str:
    return str(wildcard)
