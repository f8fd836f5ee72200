"""Discovery documents of the canned server, sufficient for every client."""

from __future__ import annotations

from _canned_objects import EMPTY, KINDS, Kind

SERVED = (*KINDS.values(), *EMPTY)
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


def discovered(path: str) -> dict[str, object] | None:
    """Return the discovery document at a path, or None."""
    groups = {kind.group for kind in SERVED if kind.group}
    if path == "/version":
        return {"major": "1", "minor": "36", "gitVersion": "v1.36.0", "platform": "linux/amd64"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in sorted(groups)]}
    for name in groups:
        if path == f"/apis/{name}":
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name)}
    served = [kind for kind in SERVED if kind.path == path]
    return _resources(served) if served else None


def _group(name: str) -> dict[str, object]:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _resources(kinds: list[Kind]) -> dict[str, object]:
    resources = [
        {
            "name": kind.plural,
            "singularName": kind.kind.lower(),
            "namespaced": kind not in EMPTY,
            "kind": kind.kind,
            "verbs": VERBS,
        }
        for kind in kinds
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": kinds[0].api_version, "resources": resources}
