"""What somebody wants to do: a verb on a resource, or on a path that is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from pyctrl.api._request_target import RequestTarget
from pyctrl.errors import Forbidden

__all__ = ["Access", "AccessRule", "missing_rules"]


def qualified(group: str, resource: str) -> str:
    """Name a resource of a rule with its group, as kubectl takes it: ``deployments.apps/status``."""
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


class Access(NamedTuple):
    """One thing to be allowed or not, as RBAC and access reviews see it. A path has nothing but its verb.

    An empty ``namespace`` means all of them, or a kind that is in none; an empty ``name`` means every name.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    is_resource: bool = True

    @classmethod
    def of_request(cls, method: str, path: str, query: Mapping[str, str]) -> Access:
        """Tell what a request wants to do, as kube-apiserver asks its authorizer.

        A list or watch that a field selector restricts to ``metadata.name=NAME`` is one of that name: who may have that
        object may list and watch it so. The version of the API does not matter.

        Args:
            method: of HTTP, in capitals.
            path: without the query; the server has decoded what was escaped, or not.
            query: the first value of each parameter.
        """
        target = RequestTarget.parse(path)
        if target is None:
            return cls(method.lower(), path=path, is_resource=False)
        verb = target.verb(method, query)
        return cls(
            verb=verb,
            group=target.group,
            resource=target.resource,
            subresource=target.subresource,
            namespace=target.namespace or (target.name if target.resource == "namespaces" else ""),
            name=target.name or (_selected(query) if verb in ("list", "watch") else ""),
        )

    @property
    def shown_resource(self) -> str:
        """The resource as rules name it: ``pods``, ``pods/log``."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def qualified_resource(self) -> str:
        """The resource as kubectl takes it: ``pods``, ``deployments.apps``, ``deployments.apps/status``."""
        return qualified(self.group, self.shown_resource)

    @classmethod
    def refused_by(cls, error: Forbidden) -> Self | None:
        """Return what a refusal was about, whatever the name of the object; None when it is not about a right."""
        if error.resource:
            resource, _, subresource = error.resource.partition("/")
            return cls(error.verb, error.api_group, resource, subresource, error.namespace)
        return cls(error.verb, path=error.path, is_resource=False) if error.path else None

    def includes(self, other: Access) -> bool:
        """Tell whether who may do this may do the other: the same, or one part of it."""
        return (
            self.is_resource == other.is_resource
            and self.verb in ("*", other.verb)
            and self.group in ("*", other.group)
            and (self.resource == "*" or (self.resource, self.subresource) == (other.resource, other.subresource))
            and self.namespace in ("", other.namespace)
            and self.name in ("", other.name)
            and self.path == other.path
        )

    def __str__(self) -> str:
        if not self.is_resource:
            return f"{self.verb} {self.path}"
        name = f" {self.name!r}" if self.name else ""
        place = f"in namespace {self.namespace!r}" if self.namespace else "at the cluster scope"
        return f"{self.verb} {self.qualified_resource}{name} {place}"


_NAME = "metadata.name="


def _selected(query: Mapping[str, str]) -> str:
    """Give the one name that a field selector leaves, if it can be one."""
    for term in query.get("fieldSelector", "").split(","):
        if term.startswith(_NAME):
            name = term.removeprefix(_NAME).removeprefix("=")
            return "" if name in (".", "..") or "/" in name or "%" in name else name
    return ""


_RULE_FIELDS = (
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
        return cls(**{part: tuple(rule.get(field) or ()) for part, field in _RULE_FIELDS})

    def to_wire(self) -> dict[str, Any]:
        """Return the rule as a role has it, in the order that people write."""
        return {field: list(values) for part, field in _RULE_FIELDS if (values := getattr(self, part))}

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
