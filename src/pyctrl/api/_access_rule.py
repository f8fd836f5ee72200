"""One rule of a role: what it allows, and what it would take to hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyctrl.api._access import Access, qualified

__all__ = ["AccessRule", "missing_rules"]

_PARTS = (
    ("groups", "apiGroups"),
    ("resources", "resources"),
    ("names", "resourceNames"),
    ("paths", "nonResourceURLs"),
    ("verbs", "verbs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """A PolicyRule of a role: everything in it is combined with everything.

    Attributes:
        verbs: such as ``list``; ``*`` is every verb.
        groups: API groups, ``""`` is the core group; ``*`` is every group.
        resources: plurals, with a sub-resource as ``pods/log``; ``*`` is everything, ``*/scale`` that of everything.
        names: of single objects; none is every name.
        paths: URLs that are no resources, such as ``/metrics``; a ``*`` at the end is everything that begins so.
    """

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @classmethod
    def read(cls, rule: Mapping[str, Any]) -> AccessRule:
        """Read a rule as a role has it."""
        return cls(**{part: tuple(rule.get(field) or ()) for part, field in _PARTS})

    def to_wire(self) -> dict[str, Any]:
        """Return the rule as a role has it, in the order that people write."""
        return {field: list(values) for part, field in _PARTS if (values := getattr(self, part))}

    @property
    def qualified_resources(self) -> list[str]:
        """The resources, each with each group, as kubectl takes them: ``deployments.apps/status``."""
        return [qualified(group, resource) for group in self.groups or ("",) for resource in self.resources]

    # --- what it allows ---

    def allows(self, access: Access) -> bool:
        """Tell whether this rule is enough, where it holds."""
        if not _has(self.verbs, access.verb):
            return False
        if not access.is_resource:
            return _reaches(self.paths, access.path)
        return (
            _has(self.groups, access.group)
            and _names_resource(self.resources, access.shown_resource)
            and (not self.names or access.name in self.names)
        )

    # --- what holding it takes ---

    def atoms(self) -> Iterator[AccessRule]:
        """Take the rule apart: each with one verb on one resource of one name, or on one path."""
        for group in self.groups:
            for resource in self.resources:
                for verb in self.verbs:
                    for name in self.names or (None,):
                        names = () if name is None else (name,)
                        yield AccessRule(verbs=(verb,), groups=(group,), resources=(resource,), names=names)
        for path in self.paths:
            for verb in self.verbs:
                yield AccessRule(verbs=(verb,), paths=(path,))

    def covers(self, atom: AccessRule) -> bool:
        """Tell whether who has this rule has the other, which is an atom."""
        if not _has(self.verbs, atom.verbs[0]):
            return False
        if atom.paths:
            return _reaches(self.paths, atom.paths[0])
        return (
            _has(self.groups, atom.groups[0])
            and _names_resource(self.resources, atom.resources[0])
            and (not self.names or (bool(atom.names) and atom.names[0] in self.names))
        )

    def accesses(self, namespace: str = "") -> Iterator[Access]:
        """Take the rule apart into what it allows in a namespace, or in all ("")."""
        for atom in self.atoms():
            if atom.paths:
                yield Access(atom.verbs[0], path=atom.paths[0], is_resource=False)
                continue
            resource, _, subresource = atom.resources[0].partition("/")
            name = atom.names[0] if atom.names else ""
            yield Access(atom.verbs[0], atom.groups[0], resource, subresource, namespace, name)


def missing_rules(held: Iterable[AccessRule], wanted: Iterable[AccessRule]) -> list[AccessRule]:
    """Return what of the wanted rules is not held, the verbs of each resource and name put together again."""
    owned = list(held)
    lacking = [atom for rule in wanted for atom in rule.atoms() if not any(each.covers(atom) for each in owned)]
    return _compacted(lacking)


def _compacted(atoms: Iterable[AccessRule]) -> list[AccessRule]:
    """Put the verbs of one resource, and name, into one rule; paths stay apart."""
    found: dict[AccessRule, AccessRule] = {}
    for atom in atoms:
        key = atom if atom.paths else replace(atom, verbs=())
        known = found.get(key)
        if known is None:
            found[key] = atom
        elif atom.verbs[0] not in known.verbs:
            found[key] = replace(known, verbs=(*known.verbs, *atom.verbs))
    return list(found.values())


def _has(values: tuple[str, ...], value: str) -> bool:
    return value in values or "*" in values


def _names_resource(resources: tuple[str, ...], resource: str) -> bool:
    if resource in resources or "*" in resources:
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in resources


def _reaches(paths: tuple[str, ...], path: str) -> bool:
    return any(each in ("*", path) or (each.endswith("*") and path.startswith(each.rstrip("*"))) for each in paths)
