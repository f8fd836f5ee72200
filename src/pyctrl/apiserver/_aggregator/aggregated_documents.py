"""Discovery and OpenAPI documents of this server, with the remote group versions added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

import msgspec

from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.discovery_manager import DiscoveryManager

__all__ = ["AggregatedDocuments"]

_FIRST = (float("-inf"), "")  # the sort key of apiregistration.k8s.io, which is always the first group
_REFERENCE = re.compile(r'"#/(definitions|parameters)/([^"]+)"')

_KINDS = "x-kubernetes-group-version-kind"
_PARTS = ("paths", "definitions", "parameters")  # of an OpenAPI v2 document

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
        remote = [each for each in self._all.values() if each.service is not None and each.group]
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
            case ["openapi", "v3", "apis", group, version]:
                converted = self._converted(group, version, remote)
                return msgspec.json.decode(converted) if converted else document
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

    def _converted(self, group: str, version: str, remote: Sequence[APIService]) -> bytes:
        """Return the v3 document of a remote group version that was converted from v2; b"" if there is none."""
        names = (each.name for each in remote if (each.group, each.version) == (group, version))
        return next((self._discovery.found[name].converted for name in names), b"")

    def _merged_v2(self, document: Document, remote: Sequence[APIService]) -> Document:
        """Return the v2 document with the paths of remote group versions and what they refer to."""
        merged = {**document, **{part: dict(document.get(part) or {}) for part in _PARTS}}
        for api in remote:
            found = self._discovery.found[api.name].openapi_v2
            theirs: Document = msgspec.json.decode(found) if found else {}
            prefix = f"/apis/{api.group}/{api.version}/"
            paths = {path: each for path, each in (theirs.get("paths") or {}).items() if path.startswith(prefix)}
            _merge_v2(merged, paths, theirs)
        return {key: value for key, value in merged.items() if value or key not in _PARTS}


def _paths(remote: Sequence[APIService]) -> Iterator[str]:
    for api in remote:
        yield f"/apis/{api.group}"
        yield f"/apis/{api.group}/{api.version}"


def _union(documents: Sequence[Document]) -> Document:
    return {key: value for each in documents for key, value in each.items()}


def _merge_v2(merged: Document, paths: Document, theirs: Document) -> None:
    """Add paths of another document. Definitions of the same name that differ are renamed, as in kube-openapi."""
    referred = {(part, name): theirs[part][name] for part, name in _referred(paths, theirs)}
    names = {key: _free_name(merged[key[0]], key[1], value) for key, value in referred.items()}

    def renamed(value: Any) -> Any:
        text = msgspec.json.encode(value).decode()
        changed = _REFERENCE.sub(lambda found: f'"#/{found[1]}/{names.get((found[1], found[2]), found[2])}"', text)
        return msgspec.json.decode(changed.encode())

    is_renamed = any(name != key[1] for key, name in names.items())
    for (part, name), value in sorted(referred.items(), key=lambda pair: pair[0]):
        mine = names[part, name]
        known = merged[part].get(mine)
        added = renamed(value) if is_renamed else value
        merged[part][mine] = added if known is None else _with_kinds(known, added)
    merged["paths"].update(renamed(paths) if is_renamed else paths)


def _free_name(known: Document, name: str, value: Document) -> str:
    """Return the name under which a definition is, or can be added."""
    names = chain((name,), (f"{name}_v{number}" for number in count(2)))
    return next(each for each in names if each not in known or _without_kinds(known[each]) == _without_kinds(value))


def _without_kinds(definition: Document) -> Document:
    return {key: value for key, value in definition.items() if key != _KINDS}


def _with_kinds(known: Document, added: Document) -> Document:
    """Return a definition with the kinds of both: options, for example, are kinds of every group."""
    kinds = [*known.get(_KINDS, ()), *(each for each in added.get(_KINDS, ()) if each not in known.get(_KINDS, ()))]
    return {**known, _KINDS: kinds} if kinds else known


def _referred(part: Document, theirs: Document) -> Iterator[tuple[str, str]]:
    """Yield the names of what a part of a document refers to, also indirectly."""
    seen: set[tuple[str, str]] = set()
    pending: list[Any] = [part]
    while pending:
        for key in _REFERENCE.findall(msgspec.json.encode(pending.pop()).decode()):
            if key not in seen and key[1] in (theirs.get(key[0]) or {}):
                seen.add(key)
                pending.append(theirs[key[0]][key[1]])
                yield key
