"""Discovery documents: the served groups, versions and resources, aggregated and unaggregated."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["AGGREGATED", "VERSION", "discovery_response"]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "pyctrl",
    "platform": "python",
}
_SERVER_ADDRESS = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]
_CUSTOM_SUBRESOURCES = ("get", "patch", "update")
_WRITES = ("create", "patch", "update")


def discovery_response(registry: ServedResources, path: str, *, is_aggregated: bool = False) -> dict[str, JSON] | None:
    """Return the document of a discovery path, or None when the path does not exist.

    A document of kind `APIGroupDiscoveryList` has the content type `AGGREGATED`.
    """
    parts = [part for part in path.split("/") if part]
    if not parts:
        return {"paths": sorted(_paths(registry))}
    if parts == ["version"]:
        return dict(VERSION)
    if parts == ["api"] and "" in registry.group_versions:
        return _groups(registry, legacy=True) if is_aggregated else _versions()
    if parts == ["apis"]:
        return _groups(registry, legacy=False) if is_aggregated else _group_list(registry)
    if parts[0] == "api" and len(parts) == 2:
        return _resources(registry, "", parts[1])
    if parts[0] == "apis" and len(parts) == 2:
        return _group_document(registry, parts[1])
    if parts[0] == "apis" and len(parts) == 3:
        return _resources(registry, parts[1], parts[2])
    return None


def _paths(registry: ServedResources) -> Iterator[str]:
    yield from ("/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
    for group, versions in registry.group_versions.items():
        if group:
            yield f"/apis/{group}"
        for version in versions:
            yield f"/apis/{group}/{version}" if group else f"/api/{version}"


# -- unaggregated ---------------------------------------------------------------------------------------------


def _versions() -> dict[str, JSON]:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": _SERVER_ADDRESS}


def _group_list(registry: ServedResources) -> dict[str, JSON]:
    groups = [_group(name, versions) for name, versions in registry.group_versions.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(name: str, versions: list[str]) -> dict[str, JSON]:
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


def _group_document(registry: ServedResources, name: str) -> dict[str, JSON] | None:
    versions = registry.group_versions.get(name)
    if not versions or not name:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _resources(registry: ServedResources, group: str, version: str) -> dict[str, JSON] | None:
    if version not in registry.group_versions.get(group, ()):
        return None
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if group else {}),  # kube-apiserver leaves it out for the core group
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": [entry for each in registry.of_group(group, version) for entry in _entries(each)],
    }


def _entries(each: ResourceType) -> Iterator[dict[str, JSON]]:
    entry = {
        "name": each.plural,
        "singularName": each.singular,
        "namespaced": each.namespaced,
        "kind": each.kind,
        "verbs": _verbs(each),
        "shortNames": list(each.short_names),
        "categories": list(each.categories),
        "storageVersionHash": _storage_hash(each) if "list" in each.verbs and each.rest_storage is None else "",
    }
    yield {key: value for key, value in entry.items() if value not in ([], "") or key == "singularName"}
    for name, kind, verbs in _subresources(each):
        yield {
            "name": f"{each.plural}/{name}",
            "singularName": "",
            "namespaced": each.namespaced,
            **_group_and_version(kind),
            "kind": kind["kind"],
            "verbs": list(verbs),
        }


def _verbs(each: ResourceType) -> list[str]:
    """Return the verbs of a resource. While its definition is deleted, objects can be read and deleted only."""
    return [verb for verb in each.verbs if not (each.is_terminating and verb in _WRITES)]


def _group_and_version(kind: Mapping[str, str]) -> dict[str, str]:
    return {key: kind[key] for key in ("group", "version") if kind.get(key)}


def _subresources(
    each: ResourceType,
) -> Iterator[tuple[str, Mapping[str, str], tuple[str, ...]]]:
    """Yield name, kind and verbs of the subresources; the kind has a group only when it is another one."""
    if isinstance(each, BuiltinResourceType):
        for entry in each.described.get("subresources", ()):
            yield entry["subresource"], entry["responseKind"], tuple(entry["verbs"])
        return
    if "status" in each.subresources:
        yield "status", {"kind": each.kind}, tuple(verb for verb in _CUSTOM_SUBRESOURCES if verb in each.verbs)
    if "scale" in each.subresources:
        yield "scale", {"group": "autoscaling", "version": "v1", "kind": "Scale"}, _CUSTOM_SUBRESOURCES
    if isinstance(each, CustomResourceType):
        for found in each.connected:
            yield found.name, {"kind": found.kind}, found.verbs


def _storage_hash(each: ResourceType) -> str:
    text = f"{each.storage_group}/{each.storage_version}/{each.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


# -- aggregated -----------------------------------------------------------------------------------------------


def _groups(registry: ServedResources, *, legacy: bool) -> dict[str, JSON]:
    items = [
        {
            "metadata": {"name": name} if name else {},
            "versions": [_version(registry, name, version) for version in versions],
        }
        for name, versions in registry.group_versions.items()
        if legacy == (not name)
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _version(registry: ServedResources, group: str, version: str) -> dict[str, JSON]:
    resources = [_aggregated(each) for each in registry.of_group(group, version)]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _aggregated(each: ResourceType) -> dict[str, Any]:
    found: dict[str, Any] = {
        "resource": each.plural,
        "responseKind": _response_kind(each, {"kind": each.kind}),
        "scope": "Namespaced" if each.namespaced else "Cluster",
        "singularResource": each.singular,
        "verbs": _verbs(each),
        "shortNames": list(each.short_names),
        "categories": list(each.categories),
        "subresources": [
            {"subresource": name, "responseKind": _response_kind(each, kind), "verbs": list(verbs)}
            for name, kind, verbs in _subresources(each)
        ],
    }
    return {key: value for key, value in found.items() if value != []}


def _response_kind(each: ResourceType, kind: Mapping[str, str]) -> dict[str, str]:
    """Return the responseKind; a built-in kind of the resource's own group has no group, as in kube-apiserver."""
    if each.is_custom and not kind.get("group"):
        return {"group": each.group, "version": each.version, "kind": kind["kind"]}
    return {"group": kind.get("group", ""), "version": kind.get("version", ""), "kind": kind["kind"]}
