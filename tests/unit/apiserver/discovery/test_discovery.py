"""Discovery and OpenAPI documents."""

from __future__ import annotations

from pyctrl._schemas import load
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._discovery.discovery import AGGREGATED, discovery_response, is_aggregated
from pyctrl.apiserver._discovery.openapi import openapi_response
from tests.unit.apiserver._objects import GROUP, install, spec_schema

KUBECTL = f"{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"


def test_the_aggregated_form_is_that_of_the_real_server() -> None:
    """The aggregated documents of built-in kinds equal those of a kube-apiserver."""
    registry = ResourceRegistry()
    for path, items in load("discovery").items():
        answer = discovery_response(registry, path, KUBECTL)
        assert answer is not None
        assert answer["items"] == items


def test_the_aggregated_form_is_given_to_who_asks_for_it_first() -> None:
    """kubectl gets the aggregated form; curl and old clients get the unaggregated one."""
    assert is_aggregated(KUBECTL)
    assert not is_aggregated("application/json")
    assert not is_aggregated("*/*")


def test_the_older_form_lists_groups_versions_and_resources() -> None:
    """The unaggregated form lists groups, versions, resources and subresources."""
    registry = ResourceRegistry()
    groups = discovery_response(registry, "/apis", "")
    assert groups is not None
    assert "apps" in [group["name"] for group in groups["groups"]]
    apps = discovery_response(registry, "/apis/apps/v1", "")
    assert apps is not None
    entries = {entry["name"]: entry for entry in apps["resources"]}
    assert entries["deployments"]["shortNames"] == ["deploy"]
    scale = entries["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_definitions_are_discovered_while_they_are_installed() -> None:
    """The group of a definition is discovered while the definition is installed."""
    registry = ResourceRegistry()
    assert discovery_response(registry, f"/apis/{GROUP}", "") is None
    install(registry, spec_schema({}), subresources={"status": {}})
    found = discovery_response(registry, f"/apis/{GROUP}/v1", "")
    assert found is not None
    assert [entry["name"] for entry in found["resources"]] == ["things", "things/status"]
    registry.remove(f"things.{GROUP}")
    assert discovery_response(registry, f"/apis/{GROUP}", "") is None


def test_versions_are_ordered_by_how_stable_they_are() -> None:
    """The preferred version of a group is the most stable one, then the newest."""
    registry = ResourceRegistry()
    from tests.unit.apiserver._objects import create, definition

    obj = definition({"type": "object"})
    names = ("v1alpha1", "v2beta1", "v1", "v10", "v2")
    schema = {"openAPIV3Schema": {"type": "object"}}
    obj["spec"]["versions"] = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in names
    ]
    registry.install(create(registry, obj)[0])
    assert registry.group_versions[GROUP] == ["v10", "v2", "v1", "v2beta1", "v1alpha1"]


def test_every_group_version_has_an_openapi_document() -> None:
    """The index of OpenAPI v3 leads to a document for each group version, with the schemas of its kinds."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer"}}))
    index = openapi_response(registry, "/openapi/v3")
    assert index is not None
    for path, place in index["paths"].items():
        document = openapi_response(registry, place["serverRelativeURL"].partition("?")[0])
        assert document is not None, path
        assert document["components"]["schemas"], path
    custom = openapi_response(registry, f"/openapi/v3/apis/{GROUP}/v1")
    assert custom is not None
    schema = custom["components"]["schemas"]["com.example.test.v1.Thing"]
    assert schema["properties"]["spec"]["properties"] == {"size": {"type": "integer"}}
    assert schema["x-kubernetes-group-version-kind"] == [{"group": GROUP, "version": "v1", "kind": "Thing"}]


def test_the_v2_document_has_no_references_of_v3() -> None:
    """All references in the OpenAPI v2 document are to definitions of the document."""
    document = openapi_response(ResourceRegistry(), "/openapi/v2")
    assert "#/components" not in str(document)
    assert openapi_response(ResourceRegistry(), "/openapi/v4") is None
