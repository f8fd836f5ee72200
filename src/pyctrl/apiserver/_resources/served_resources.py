"""Container of the resource types that a server serves, found by group, version and plural or kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyctrl.apiserver._errors import resource_not_served
from pyctrl.apiserver._resources.unserved_kinds import KINDS_WITHOUT_RESOURCE, UNSERVED_KINDS

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._schema.components import OpenAPIComponents

__all__ = ["DEFINITIONS", "ServedResources", "version_rank"]

DEFINITIONS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")

_OTHER_SCHEMES = ("apiextensions.k8s.io", "apiregistration.k8s.io")  # groups of apiextensions-apiserver and aggregator

#: Kinds of every group version of the scheme (metav1.AddToGroupVersion).
_EVERYWHERE = frozenset(
    (
        "CreateOptions",
        "DeleteOptions",
        "GetOptions",
        "ListOptions",
        "PatchOptions",
        "UpdateOptions",
        "WatchEvent",
    )
)


class ServedResources:
    """The resource types that a server serves now: built-in ones, and those of established definitions."""

    def __init__(self, components: OpenAPIComponents) -> None:
        self.components: OpenAPIComponents = components
        self._types: dict[tuple[str, str, str], ResourceType] = {}
        self._kinds: dict[tuple[str, str, str], ResourceType] = {}
        self._definitions: dict[str, tuple[ResourceType, ...]] = {}
        self.group_versions: dict[str, list[str]] = {}  # group -> versions, the preferred one first
        self._builtin_groups: set[str] = set()
        self.epoch: int = 0  # incremented when a definition's types change; discovery is cached by it

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(self._types.values())

    # -- look-ups ----------------------------------------------------------------------------------------------

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        """Return the type of a resource, or None when it is not served."""
        return self._types.get((group, version, plural))

    def require(self, group: str, version: str, plural: str) -> ResourceType:
        """Return the type of a resource; raise `StatusError` (404) when it is not served."""
        found = self.find(group, version, plural)
        if found is None:
            raise resource_not_served()
        return found

    def by_kind(self, group: str, version: str, kind: str) -> ResourceType | None:
        """Return the type of a kind, or None when it is not served."""
        return self._kinds.get((group, version, kind))

    def of_group(self, group: str, version: str) -> list[ResourceType]:
        """Return the types of one group version, sorted by plural."""
        found = [each for key, each in self._types.items() if key[:2] == (group, version)]
        return sorted(found, key=lambda each: each.plural)

    def of_storage(self, storage_group: str, plural: str) -> list[ResourceType]:
        """Return the types of one resource in all its versions, which share the stored objects."""
        return [each for each in self._types.values() if each.plural == plural and each.storage_group == storage_group]

    def installed(self, definition: str) -> tuple[ResourceType, ...]:
        """Return the types of a definition, one per served version; empty when it is not installed."""
        return self._definitions.get(definition, ())

    def knows(self, group: str, version: str) -> bool:
        """Return whether a group version is served, or its group is built in."""
        return group in self._builtin_groups or version in self.group_versions.get(group, ())

    def is_builtin_group(self, group: str) -> bool:
        """Return whether a group is built in: unknown paths below it are answered by its API server."""
        return group in self._builtin_groups

    def is_registered(self, api_version: str, kind: str) -> bool:
        """Return whether kube-apiserver's own scheme has a kind.

        It has neither custom kinds nor those of apiextensions-apiserver and the aggregator.
        """
        group, _, version = api_version.rpartition("/")
        known = self.by_kind(group, version, kind.removesuffix("List"))
        if known is not None and not known.is_custom:
            return group not in _OTHER_SCHEMES
        if (api_version, kind) in KINDS_WITHOUT_RESOURCE or (api_version, kind) == ("v1", "List"):
            return True  # the last is that of objects of any kinds
        if kind.removesuffix("List") in UNSERVED_KINDS.get(api_version, ()):
            return True
        return kind in _EVERYWHERE and version in self.group_versions.get(group, ())

    # -- changes -----------------------------------------------------------------------------------------------

    def add_builtin(self, resource_type: ResourceType) -> None:
        """Serve a built-in resource."""
        self._builtin_groups.add(resource_type.group)
        self._add(resource_type)

    def replace(self, definition: str, types: Sequence[ResourceType]) -> None:
        """Serve the types of a definition in place of those that it had before."""
        self._forget(definition)
        self._definitions[definition] = tuple(types)
        for each in types:
            self._add(each)
        self._renumber()

    def remove(self, definition: str) -> None:
        """Stop serving the types of a definition."""
        if self._forget(definition):
            self._renumber()

    def _add(self, each: ResourceType) -> None:
        self._types[each.group, each.version, each.plural] = each
        self._kinds[each.group, each.version, each.kind] = each
        versions = self.group_versions.setdefault(each.group, [])
        if each.version not in versions:
            versions.append(each.version)

    def _forget(self, definition: str) -> bool:
        gone = self._definitions.pop(definition, ())
        for each in gone:
            self._types.pop((each.group, each.version, each.plural), None)
            self._kinds.pop((each.group, each.version, each.kind), None)
        return bool(gone)

    def _renumber(self) -> None:
        """Recompute groups and versions: definitions may share a group, and built-in groups keep their order."""
        self.epoch += 1
        self.group_versions = {}
        for group, version, _ in self._types:
            versions = self.group_versions.setdefault(group, [])
            if version not in versions:
                versions.append(version)
        custom = {each.group for types in self._definitions.values() for each in types}
        for group in custom:
            self.group_versions[group].sort(key=version_rank)


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Return the sort key of a version in Kubernetes' order: v10, v2, v1, v2beta1, v1beta2, v1alpha1, other text."""
    head, _, rest = version.partition("v")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    tail = rest[len(digits) :]
    for rank, stage in enumerate(("", "beta", "alpha")):
        minor = tail.removeprefix(stage) if stage else tail
        if not head and digits and tail.startswith(stage) and (minor.isdigit() if stage else not tail):
            return rank, -int(digits), -int(minor or 0), ""
    return 9, 0, 0, version
