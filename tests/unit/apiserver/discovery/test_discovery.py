"""Discovery and OpenAPI documents."""

from __future__ import annotations

from pyctrl._schemas import load
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._discovery.discovery import discovery_response
from tests.unit.apiserver._objects import GROUP, install, spec_schema


def test_the_aggregated_form_is_that_of_the_real_server() -> None:
    """The aggregated documents of built-in kinds equal those of a kube-apiserver."""
    registry = ResourceRegistry()
    for path, items in load("discovery").items():
        answer = discovery_response(registry, path, is_aggregated=True)
        assert answer is not None
        assert answer["items"] == items


def test_the_older_form_lists_groups_versions_and_resources() -> None:
    """The unaggregated form lists groups, versions, resources and subresources."""
    registry = ResourceRegistry()
    groups = discovery_response(registry, "/apis")
    assert groups is not None
    assert "apps" in [group["name"] for group in groups["groups"]]
    apps = discovery_response(registry, "/apis/apps/v1")
    assert apps is not None
    entries = {entry["name"]: entry for entry in apps["resources"]}
    assert entries["deployments"]["shortNames"] == ["deploy"]
    scale = entries["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_definitions_are_discovered_while_they_are_installed() -> None:
    """The group of a definition is discovered while the definition is installed, without writes while it is deleted."""
    registry = ResourceRegistry()
    assert discovery_response(registry, f"/apis/{GROUP}") is None
    install(registry, spec_schema({}), subresources={"status": {}})
    found = discovery_response(registry, f"/apis/{GROUP}/v1")
    assert found is not None
    assert [entry["name"] for entry in found["resources"]] == ["things", "things/status"]
    registry.require(GROUP, "v1", "things").is_terminating = True
    gone = discovery_response(registry, f"/apis/{GROUP}/v1")
    assert gone is not None
    assert gone["resources"][0]["verbs"] == ["delete", "deletecollection", "get", "list", "watch"]
    assert gone["resources"][1] == found["resources"][1]
    registry.remove(f"things.{GROUP}")
    assert discovery_response(registry, f"/apis/{GROUP}") is None
