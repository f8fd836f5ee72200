"""The resources that rules can name: built-in, from CustomResourceDefinitions, and from a cluster's discovery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from pyctrl._schemas import load

__all__ = ["Served", "ServedResource", "built_in"]


class ServedResource(NamedTuple):
    """A resource of the discovery API, without its version."""

    group: str
    plural: str
    kind: str
    namespaced: bool
    singular: str = ""
    short_names: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()  # empty if unknown
    is_custom: bool = False

    @property
    def is_watchable(self) -> bool:
        """Whether it can be watched; True if its verbs are unknown."""
        return not self.verbs or "watch" in self.verbs

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def is_called(self, name: str) -> bool:
        """Return whether a name is its plural, kind, singular or a short name, ignoring case."""
        words = (self.plural, self.kind, self.singular or self.kind, *self.short_names)
        return name.casefold() in (word.casefold() for word in words)


class Served:
    """All known resources, by group and plural.

    Args:
        resources: the resources from discovery, added to the built-in ones.
        definitions: CustomResourceDefinitions, whose resources are added.
        is_complete: whether ``resources`` is everything that the cluster serves.
    """

    def __init__(
        self,
        resources: Iterable[ServedResource] = (),
        *,
        definitions: Iterable[Mapping[str, Any]] = (),
        is_complete: bool = False,
    ) -> None:
        self._known: dict[tuple[str, str], ServedResource] = {}
        for each in (*built_in(), *resources, *(_defined(definition) for definition in definitions)):
            known = self._known.get((each.group, each.plural))
            if known is not None:  # another version, or a CustomResourceDefinition that discovery has, too
                each = known._replace(subresources=known.subresources | each.subresources)
            self._known[each.group, each.plural] = each
        self._by_plural: dict[str, list[ServedResource]] = {}
        for each in self._known.values():
            self._by_plural.setdefault(each.plural, []).append(each)
        self._groups = {each.group for each in self._known.values()}
        self._built_in_groups = {each.group for each in built_in()}
        self._is_complete = is_complete

    def __iter__(self) -> Iterator[ServedResource]:
        return iter(self._known.values())

    def find(self, group: str, plural: str) -> ServedResource | None:
        """Return a resource by group and plural; None if unknown."""
        return self._known.get((group, plural))

    def named(self, plural: str) -> list[ServedResource]:
        """Return the resources of a plural, in any group."""
        return self._by_plural.get(plural, [])

    def guess(self, name: str, groups: Iterable[str]) -> ServedResource | None:
        """Return the resource that a name other than the plural stands for, preferably in one of the groups."""
        wanted = set(groups)
        found = [each for each in self if each.is_called(name)]
        return next((each for each in found if each.group in wanted), found[0] if found else None)

    def of_group(self, group: str) -> list[ServedResource]:
        """Return the resources of a group; all resources for ``*``."""
        return [each for each in self if group in ("*", each.group)]

    def knows_all_of(self, group: str) -> bool:
        """Return whether an unknown resource of this group does not exist."""
        return self._is_complete or group in self._built_in_groups

    def has_group(self, group: str) -> bool:
        """Return whether any resource of a group is known."""
        return group in self._groups

    @property
    def groups(self) -> frozenset[str]:
        """The groups of all known resources."""
        return frozenset(self._groups)


@cache
def built_in() -> tuple[ServedResource, ...]:
    """Return the built-in resources of Kubernetes 1.36, one for each group and plural."""
    found: dict[tuple[str, str], ServedResource] = {}
    for documents in load("discovery").values():
        for group in documents:
            name = (group.get("metadata") or {}).get("name", "")
            for version in group["versions"]:
                for resource in version["resources"]:
                    found.setdefault((name, resource["resource"]), _discovered(name, resource))
    return tuple(found.values())


def _discovered(group: str, resource: Mapping[str, Any]) -> ServedResource:
    return ServedResource(
        group=group,
        plural=resource["resource"],
        kind=resource["responseKind"]["kind"],
        namespaced=resource["scope"] == "Namespaced",
        singular=resource.get("singularResource", ""),
        short_names=tuple(resource.get("shortNames") or ()),
        subresources=frozenset(each["subresource"] for each in resource.get("subresources") or ()),
        verbs=frozenset(resource.get("verbs") or ()),
    )


def _defined(definition: Mapping[str, Any]) -> ServedResource:
    spec = definition.get("spec") or {}
    names = spec.get("names") or {}
    below = [each.get("subresources") or {} for each in spec.get("versions") or ()]
    return ServedResource(
        group=spec.get("group") or "",
        plural=names.get("plural") or "",
        kind=names.get("kind") or "",
        namespaced=spec.get("scope") != "Cluster",
        singular=names.get("singular") or (names.get("kind") or "").lower(),
        short_names=tuple(names.get("shortNames") or ()),
        subresources=frozenset(name for each in below for name in each),
        is_custom=True,
    )
