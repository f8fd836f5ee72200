"""Documents of this server with those of extension API servers."""

from __future__ import annotations

import json
from typing import Any

from pyctrl.apiserver._aggregator.aggregated_documents import AggregatedDocuments
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.discovery_manager import GroupVersionDiscovery
from tests.unit.apiserver.aggregator._remote import GROUP, NAME, api_service

PATH = f"/apis/{GROUP}/v1/flavors"
KINDS = "x-kubernetes-group-version-kind"


class Discovery:
    """The documents of remote group versions by name."""

    epoch = 5

    def __init__(self, **found: GroupVersionDiscovery) -> None:
        self.found = {name.replace("_", "."): each for name, each in found.items()}


def documents(*objects: dict[str, Any], openapi_v2: dict[str, Any] | None = None) -> AggregatedDocuments:
    """Return the documents with APIServices."""
    found = [APIService.from_object(each) for each in objects]
    v2 = json.dumps(openapi_v2).encode() if openapi_v2 else b""
    discovery: Any = Discovery()
    discovery.found = {
        each.name: GroupVersionDiscovery({"version": each.version}, {f"apis/{each.group}": {}}, v2) for each in found
    }
    return AggregatedDocuments({each.name: each for each in found}, discovery)


def local(version: str, group: str, priority: int) -> dict[str, Any]:
    """Return an APIService of this server."""
    return api_service(version, group=group, service=None, groupPriorityMinimum=priority)


def test_without_extension_api_servers_documents_are_unchanged() -> None:
    """The document is the same object."""
    document: dict[str, Any] = {"paths": []}
    assert documents(local("v1", "apps", 17800)).merged([], document) is document


def test_groups_are_in_the_order_of_their_priorities() -> None:
    """apiregistration.k8s.io is first, and a group has the highest priority of its versions."""
    merged = documents(local("v1", "apps", 17800), api_service(groupPriorityMinimum=18000), local("v1", "batch", 17400))
    known: list[dict[str, Any]] = [
        {"name": name, "versions": []} for name in ("apiregistration.k8s.io", "apps", "batch")
    ]
    found = merged.merged(["apis"], {"groups": known})
    assert found is not None
    assert [each["name"] for each in found["groups"]] == ["apiregistration.k8s.io", GROUP, "apps", "batch"]
    items = [{"metadata": {"name": each["name"]}, "versions": []} for each in known]
    found = merged.merged(["apis"], {"items": items})
    assert found is not None
    assert [each["metadata"]["name"] for each in found["items"]][1] == GROUP


def test_versions_of_one_group_may_have_different_servers() -> None:
    """A group has the versions of this server and of others, in the order of their priorities."""
    merged = documents(local("v1", GROUP, 1000), api_service("v2", versionPriority=100), api_service("v3alpha1"))
    found = merged.merged(["apis", GROUP], None)
    assert found is not None
    assert [each["version"] for each in found["versions"]] == ["v2", "v1", "v3alpha1"]
    assert found["preferredVersion"] == {"groupVersion": f"{GROUP}/v2", "version": "v2"}
    known = [{"metadata": {"name": GROUP}, "versions": [{"version": "v1"}]}]
    found = merged.merged(["apis"], {"items": known})
    assert found is not None
    assert found["items"] == [
        {"metadata": {"name": GROUP}, "versions": [{"version": "v2"}, {"version": "v1"}, {"version": "v3alpha1"}]}
    ]
    assert merged.merged(["apis", "apps"], None) is None


def test_paths_and_the_index_of_openapi_have_them() -> None:
    """The root document names the paths of the group and the version."""
    merged = documents(api_service())
    assert merged.merged([], {"paths": ["/api", "/version"]}) == {
        "paths": ["/api", f"/apis/{GROUP}", f"/apis/{GROUP}/v1", "/version"]
    }
    assert merged.merged(["openapi", "v3"], {"paths": {"version": {}}}) == {
        "paths": {f"apis/{GROUP}": {}, "version": {}}
    }
    assert merged.merged(["openapi", "v3", "version"], None) is None
    assert merged.epoch == 5


def _refers(to: str, **rest: Any) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{to}", **rest}


def test_the_v2_document_has_the_paths_of_the_group_version_and_their_definitions() -> None:
    """Other paths of the server are left out, and so are definitions that no path refers to."""
    theirs = {
        "paths": {PATH: _refers("Flavor", parameters=[{"$ref": "#/parameters/limit-1"}]), "/version": _refers("Info")},
        "definitions": {"Flavor": _refers("Taste"), "Taste": {}, "Info": {}},
        "parameters": {"limit-1": {"name": "limit"}, "other-1": {}},
    }
    found = documents(api_service(), openapi_v2=theirs).merged(["openapi", "v2"], {"swagger": "2.0", "definitions": {}})
    assert found == {
        "swagger": "2.0",
        "paths": {PATH: theirs["paths"][PATH]},
        "definitions": {"Flavor": _refers("Taste"), "Taste": {}},
        "parameters": {"limit-1": {"name": "limit"}},
    }


def test_definitions_that_differ_are_renamed() -> None:
    """Two servers may have different definitions of one name; those that differ in their kinds only are one."""
    ours = {"paths": {}, "definitions": {"Meta": {"type": "object"}, "Options": {KINDS: [{"group": "a"}]}}}
    theirs = {
        "paths": {PATH: {"a": _refers("Flavor"), "b": _refers("Options")}},
        "definitions": {"Flavor": _refers("Meta"), "Meta": {"type": "string"}, "Options": {KINDS: [{"group": "b"}]}},
    }
    found = documents(api_service(), openapi_v2=theirs).merged(["openapi", "v2"], ours)
    assert found is not None
    assert found["definitions"] == {
        "Meta": {"type": "object"},
        "Meta_v2": {"type": "string"},
        "Flavor": _refers("Meta_v2"),
        "Options": {KINDS: [{"group": "a"}, {"group": "b"}]},
    }
    assert found["paths"] == theirs["paths"]
    assert ours["definitions"]["Options"] == {KINDS: [{"group": "a"}]}
    assert NAME.endswith(GROUP)
