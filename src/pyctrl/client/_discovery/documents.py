"""Discovery documents, aggregated and legacy, decoded into resource mappings."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pyctrl.api import GroupVersionKind
from pyctrl.client._discovery.resource_mapping import ResourceMapping

__all__ = ["AGGREGATED", "GroupVersion", "Groups", "read_groups", "read_resources"]

_AGGREGATED_PARAMETERS = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
# v2beta1: servers 1.27 to 1.29
AGGREGATED = f"{_AGGREGATED_PARAMETERS.format('v2')},{_AGGREGATED_PARAMETERS.format('v2beta1')},application/json"


class _Wire(msgspec.Struct, rename="camel", kw_only=True):
    """A part of a document; other fields are skipped."""


class _ResponseKind(_Wire):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Subresource(_Wire):
    subresource: str


class _Resource(_Wire):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Subresource] | None = None


class _Version(_Wire):
    version: str
    resources: list[_Resource] | None = None
    freshness: str = ""


class _Name(_Wire):
    name: str = ""


class _Group(_Wire):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_Version] | None = None


class _LegacyVersion(_Wire):
    group_version: str


class _LegacyGroup(_Wire):
    versions: list[_LegacyVersion] | None = None


class _Root(_Wire):
    """``/api`` and ``/apis``: one of three documents, distinguished by ``kind``."""

    kind: str = ""
    items: list[_Group] | None = None  # APIGroupDiscoveryList
    versions: list[str] | None = None  # APIVersions
    groups: list[_LegacyGroup] | None = None  # APIGroupList


class _LegacyResource(_Wire):
    name: str
    kind: str = ""
    singular_name: str = ""
    namespaced: bool = False
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _LegacyResources(_Wire):
    resources: list[_LegacyResource] | None = None


class GroupVersion(msgspec.Struct, frozen=True):
    """A group version and its resources; None when they need a request of their own.

    A stale one is served by an extension server that does not answer now; its resources are the last known.
    """

    group: str
    version: str
    resources: tuple[ResourceMapping, ...] | None = None
    is_stale: bool = False


Groups = list[GroupVersion]


def read_groups(body: bytes) -> Groups:
    """Return the groups in any of the documents of ``/api`` and ``/apis``, in the server's order of preference.

    Raises:
        msgspec.DecodeError: the body is none of these documents.
    """
    root = msgspec.json.decode(body, type=_Root)
    if root.kind == "APIGroupDiscoveryList":
        return [
            GroupVersion(
                group.metadata.name,
                version.version,
                tuple(_aggregated(group.metadata.name, version)),
                version.freshness == "Stale",
            )
            for group in root.items or ()
            for version in group.versions or ()
        ]
    names = [*(root.versions or ()), *(v.group_version for g in root.groups or () for v in g.versions or ())]
    return [GroupVersion(*_split(name)) for name in names]


def read_resources(group_version: GroupVersion, body: bytes) -> tuple[ResourceMapping, ...]:
    """Return the resources in the legacy list of one group version. Raises msgspec.DecodeError for anything else."""
    found = msgspec.json.decode(body, type=_LegacyResources).resources or []
    below: dict[str, set[str]] = {}
    for resource in found:
        plural, slash, name = resource.name.partition("/")
        if slash:
            below.setdefault(plural, set()).add(name)
    return tuple(
        ResourceMapping(
            gvk=GroupVersionKind(group_version.group, group_version.version, resource.kind),
            plural=resource.name,
            namespaced=resource.namespaced,
            verbs=frozenset(resource.verbs or ()),
            subresources=frozenset(below.get(resource.name, ())),
            singular=resource.singular_name or resource.kind.lower(),
            short_names=tuple(resource.short_names or ()),
            categories=tuple(resource.categories or ()),
        )
        for resource in found
        if "/" not in resource.name and resource.kind
    )


def _aggregated(group: str, version: _Version) -> Iterator[ResourceMapping]:
    for resource in version.resources or ():
        if resource.response_kind is None or not resource.response_kind.kind:
            continue  # this name has sub-resources only
        yield ResourceMapping(
            gvk=GroupVersionKind(group, version.version, resource.response_kind.kind),
            plural=resource.resource,
            namespaced=resource.scope == "Namespaced",
            verbs=frozenset(resource.verbs or ()),
            subresources=frozenset(s.subresource for s in resource.subresources or ()),
            singular=resource.singular_resource or resource.response_kind.kind.lower(),
            short_names=tuple(resource.short_names or ()),
            categories=tuple(resource.categories or ()),
        )


def _split(group_version: str) -> tuple[str, str]:
    group, _, version = group_version.rpartition("/")
    return group, version
