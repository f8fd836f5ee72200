"""Accesses and access rules: a verb on a resource or on a non-resource path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from pyctrl.api._request_target import RequestTarget
from pyctrl.errors import Forbidden

__all__ = ["Access", "AccessRule", "missing_rules"]


def qualified(group: str, resource: str) -> str:
    """Return the name of a rule's resource with its group, as kubectl takes it: ``deployments.apps/status``."""
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


class Access(NamedTuple):
    """One access that RBAC or an access review decides about. For a path only `verb` and `path` are set.

    An empty ``namespace`` means all namespaces, or a cluster-scoped kind. An empty ``name`` means every name.
    The API server sets ``field_selector`` for reads and deletions of several objects; only its Node authorizer uses it.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    is_resource: bool = True
    field_selector: str = ""

    @classmethod
    def of_request(cls, method: str, path: str, query: Mapping[str, str]) -> Access:
        """Return the access of a request, as kube-apiserver passes it to its authorizer.

        A list or watch that a field selector restricts to ``metadata.name=NAME`` is an access to that name: a user who
        may read that object may list and watch it so. The version of the API does not matter.

        Args:
            method: the HTTP method, upper case.
            path: the URL's path without the query, percent-decoded or not.
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
        """Return the access that a Forbidden error denied, without the object's name; None when it names no access."""
        if error.resource:
            resource, _, subresource = error.resource.partition("/")
            return cls(error.verb, error.api_group, resource, subresource, error.namespace)
        return cls(error.verb, path=error.path, is_resource=False) if error.path else None

    def includes(self, other: Access) -> bool:
        """Return whether permission for this access includes the other: the same, or a part of it."""
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
    """Return the single name that a field selector selects, or ""."""
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
    """A PolicyRule of a role: it allows all combinations of its verbs, groups and resources.

    Attributes:
        verbs: such as ``list``; ``*`` is every verb.
        groups: API groups, ``""`` is the core group; ``*`` is every group.
        resources: plurals, with a sub-resource as ``pods/log``; ``*`` is everything, ``*/scale`` that of everything.
            names: names of objects; empty is every name.
        paths: non-resource URLs, such as ``/metrics``; a ``*`` at the end matches every path with that prefix.
    """

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @classmethod
    def read(cls, rule: Mapping[str, Any]) -> AccessRule:
        """Return the rule of a role's wire form."""
        return cls(**{part: tuple(rule.get(field) or ()) for part, field in _RULE_FIELDS})

    def to_wire(self) -> dict[str, Any]:
        """Return the rule in a role's wire form, keys in the customary order."""
        return {field: list(values) for part, field in _RULE_FIELDS if (values := getattr(self, part))}

    @property
    def qualified_resources(self) -> list[str]:
        """Return each resource with each group, as kubectl takes them: ``deployments.apps/status``."""
        return [qualified(group, resource) for group in self.groups or ("",) for resource in self.resources]

    # --- accesses it allows ---

    def allows(self, access: Access) -> bool:
        """Return whether this rule allows an access, in the namespaces where it applies."""
        if not _has(self.verbs, access.verb):
            return False
        if not access.is_resource:
            return _reaches(self.paths, access.path)
        return (
            _has(self.groups, access.group)
            and _names_resource(self.resources, access.shown_resource)
            and (not self.names or access.name in self.names)
        )

    # --- comparison with other rules ---

    def atoms(self) -> Iterator[AccessRule]:
        """Yield the rule's atoms: each one verb on one resource and one name, or on one path."""
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
        """Return whether this rule includes another, which must be an atom."""
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
        """Yield the accesses that the rule allows in a namespace, or in all namespaces ("")."""
        for atom in self.atoms():
            if atom.paths:
                yield Access(atom.verbs[0], path=atom.paths[0], is_resource=False)
                continue
            resource, _, subresource = atom.resources[0].partition("/")
            name = atom.names[0] if atom.names else ""
            yield Access(atom.verbs[0], atom.groups[0], resource, subresource, namespace, name)


def missing_rules(held: Iterable[AccessRule], wanted: Iterable[AccessRule]) -> list[AccessRule]:
    """Return the wanted rules that are not held, with the verbs of each resource and name combined."""
    owned = list(held)
    lacking = [atom for rule in wanted for atom in rule.atoms() if not any(each.covers(atom) for each in owned)]
    return _compacted(lacking)


def _compacted(atoms: Iterable[AccessRule]) -> list[AccessRule]:
    """Combine the verbs of each resource and name into one rule; paths stay separate."""
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
