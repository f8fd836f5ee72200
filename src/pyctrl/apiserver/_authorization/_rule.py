"""One rule of a role: what it allows, and what it would take to hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyctrl.apiserver._answers import quoted

from ._access import Access

_PARTS = (
    ("verbs", "verbs"),
    ("groups", "apiGroups"),
    ("resources", "resources"),
    ("names", "resourceNames"),
    ("paths", "nonResourceURLs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A `PolicyRule`: everything in it is combined with everything."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # none: every name
    paths: tuple[str, ...] = ()

    @classmethod
    def read(cls, rule: Mapping[str, Any]) -> Rule:
        """Read a rule of a stored role."""
        return cls(**{part: tuple(rule.get(field) or ()) for part, field in _PARTS})

    def shown(self) -> dict[str, Any]:
        """Give the rule as an object has it."""
        return {field: list(values) for part, field in _PARTS if (values := getattr(self, part))}

    # -- what it allows ----------------------------------------------------------------------------------------

    def allows(self, access: Access) -> bool:
        """Whether this rule is enough."""
        if access.verb not in self.verbs and "*" not in self.verbs:
            return False
        if not access.is_resource:
            return _reaches(self.paths, access.path)
        return (
            (access.group in self.groups or "*" in self.groups)
            and _names_resource(self.resources, access.shown_resource)
            and (not self.names or access.name in self.names)
        )

    # -- what holding it takes ---------------------------------------------------------------------------------

    def atoms(self) -> Iterator[Rule]:
        """Take the rule apart: each with one verb on one resource of one name, or on one path."""
        for group in self.groups:
            for resource in self.resources:
                for verb in self.verbs:
                    for name in self.names or (None,):
                        names = () if name is None else (name,)
                        yield Rule(verbs=(verb,), groups=(group,), resources=(resource,), names=names)
        for path in self.paths:
            for verb in self.verbs:
                yield Rule(verbs=(verb,), paths=(path,))

    def covers(self, atom: Rule) -> bool:
        """Whether who has this rule has the other, which is an atom."""
        if not _has(self.verbs, atom.verbs[0]):
            return False
        if atom.paths:
            return _reaches(self.paths, atom.paths[0])
        return (
            _has(self.groups, atom.groups[0])
            and _names_resource(self.resources, atom.resources[0])
            and (not self.names or (bool(atom.names) and atom.names[0] in self.names))
        )

    def __str__(self) -> str:
        """Print it as kube-apiserver's refusals do."""
        named = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.paths),
            ("ResourceNames", self.names),
            ("Verbs", self.verbs),
        )
        parts = (f"{name}:[{' '.join(map(quoted, values))}]" for name, values in named if values)
        return f"{{{', '.join(parts)}}}"


#: What cluster-admin has.
EVERYTHING = (Rule(verbs=("*",), groups=("*",), resources=("*",)), Rule(verbs=("*",), paths=("*",)))


def missing(held: Iterable[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """Give what of the wanted rules is not held, put together again by resource and in the order of a refusal."""
    owned = list(held)
    lacking = [atom for rule in wanted for atom in rule.atoms() if not any(each.covers(atom) for each in owned)]
    return sorted(_compacted(lacking), key=str)


def _compacted(atoms: Iterable[Rule]) -> list[Rule]:
    """Put the verbs of one resource, and name, into one rule; paths stay apart."""
    found: dict[Rule, Rule] = {}
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
