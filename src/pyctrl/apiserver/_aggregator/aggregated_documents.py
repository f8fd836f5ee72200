"""Discovery and OpenAPI documents of this server, with the remote group versions added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.discovery_manager import DiscoveryManager

__all__ = ["AggregatedDocuments"]

_FIRST = (float("-inf"), "")  # the sort key of apiregistration.k8s.io, which is always the first group
_REFERENCE = re.compile(rb'"#/definitions/([^"]+)"')

Document = dict[str, Any]


class AggregatedDocuments:
    """Adds remote group versions to documents.

    Args:
        api_services: All APIServices by name: their priorities give the order of groups and versions.
        discovery: The documents of the remote group versions.
    """

    def __init__(self, api_services: Mapping[str, APIService], discovery: DiscoveryManager) -> None:
        self._all, self._discovery = api_services, discovery

    @property
    def epoch(self) -> int:
        """A number that changes with the documents."""
        return self._discovery.epoch

    def merged(self, parts: Sequence[str], document: Document | None) -> Document | None:
        """Return the document of a path with the remote group versions; None if there is no such document."""
        remote = [each for each in self._all.values() if each.service is not None]
        if not remote:
            return document
        match [*parts]:
            case []:
                return {"paths": sorted({*document["paths"], *_paths(remote)})} if document else None
            case ["apis"] if document and "items" in document:
                return {**document, "items": self._items(document["items"], remote)}
            case ["apis"] if document:
                return {**document, "groups": self._groups(document["groups"], remote)}
            case ["apis", group]:
                return self._group(group, document, remote)
            case ["openapi", "v3"] if document:
                found = [self._discovery.found[each.name].openapi_v3 for each in remote]
                return {**document, "paths": dict(sorted(_union([*found, document["paths"]]).items()))}
            case ["openapi", "v2"] if document:
                return self._merged_v2(document, remote)
        return document

    # -- discovery ---------------------------------------------------------------------------------------------

    def _items(self, items: Sequence[Document], remote: Sequence[APIService]) -> list[Document]:
        """Return the groups of an APIGroupDiscoveryList."""
        versions = {each["metadata"].get("name", ""): list(each["versions"]) for each in items}
        for api in remote:
            known = versions.setdefault(api.group, [])
            known[:] = [each for each in known if each["version"] != api.version]
            known.append(self._discovery.found[api.name].entry)
        changed = {group: self._discovery_group(group, versions[group]) for group in {api.group for api in remote}}
        return self._ordered({each["metadata"].get("name", ""): each for each in items}, changed)

    def _discovery_group(self, group: str, versions: Sequence[Document]) -> Document:
        ordered = sorted(versions, key=lambda each: self._version_order(group, each["version"]))
        return {"metadata": {"name": group}, "versions": ordered}

    def _groups(self, groups: Sequence[Document], remote: Sequence[APIService]) -> list[Document]:
        """Return the groups of an APIGroupList."""
        known = {each["name"]: each for each in groups}
        return self._ordered(known, {api.group: self._api_group(api.group, known.get(api.group)) for api in remote})

    def _group(self, group: str, document: Document | None, remote: Sequence[APIService]) -> Document | None:
        """Return the APIGroup of a group."""
        if not any(api.group == group for api in remote):
            return document
        return {"kind": "APIGroup", "apiVersion": "v1", **self._api_group(group, document)}

    def _api_group(self, group: str, known: Document | None) -> Document:
        names = {each["version"] for each in (known or {"versions": ()})["versions"]}
        names.update(api.version for api in self._all.values() if api.group == group)
        ordered = sorted(names, key=lambda version: self._version_order(group, version))
        versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in ordered]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _ordered(self, known: Mapping[str, Document], changed: Mapping[str, Document]) -> list[Document]:
        """Return groups in the order of their priorities; those of this server keep their order."""
        order = list(known)
        for group in sorted(changed.keys() - known.keys(), key=self._group_order):
            mine = self._group_order(group)
            place = (index for index, each in enumerate(order) if self._group_order(each) > mine)
            order.insert(next(place, len(order)), group)
        return [changed.get(group) or known[group] for group in order]

    def _group_order(self, group: str) -> tuple[float, str]:
        """Return the sort key of a group: that of the first of its APIServices."""
        return min(
            ((-api.group_priority, api.name) for api in self._all.values() if api.group == group), default=_FIRST
        )

    def _version_order(self, group: str, version: str) -> tuple[object, ...]:
        api = self._all.get(f"{version}.{group}")
        return api.version_order if api is not None else (0, version)

    # -- OpenAPI -----------------------------------------------------------------------------------------------

    def _merged_v2(self, document: Document, remote: Sequence[APIService]) -> Document:
        """Return the v2 document with the paths of remote group versions and the definitions that they refer to."""
        paths, definitions = dict(document.get("paths") or {}), dict(document.get("definitions") or {})
        for api in remote:
            found = self._discovery.found[api.name].openapi_v2
            theirs: Document = msgspec.json.decode(found) if found else {}
            prefix = f"/apis/{api.group}/{api.version}/"
            own = {path: each for path, each in (theirs.get("paths") or {}).items() if path.startswith(prefix)}
            paths.update(own)
            for name, each in _referred(own, theirs.get("definitions") or {}):
                definitions.setdefault(name, each)
        return {**document, "paths": paths, "definitions": definitions}


def _paths(remote: Sequence[APIService]) -> Iterator[str]:
    for api in remote:
        yield f"/apis/{api.group}"
        yield f"/apis/{api.group}/{api.version}"


def _union(documents: Sequence[Document]) -> Document:
    return {key: value for each in documents for key, value in each.items()}


def _referred(part: Document, definitions: Document) -> Iterator[tuple[str, Document]]:
    """Yield the definitions that a part of a document refers to, also indirectly."""
    seen: set[str] = set()
    pending: list[Any] = [part]
    while pending:
        for found in _REFERENCE.findall(msgspec.json.encode(pending.pop())):
            name = found.decode()
            if name not in seen and name in definitions:
                seen.add(name)
                pending.append(definitions[name])
                yield name, definitions[name]
