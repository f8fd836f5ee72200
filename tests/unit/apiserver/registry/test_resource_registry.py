"""The registry of a server's resources."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import GROUP, install, spec_schema


def test_a_new_registry_serves_the_built_in_kinds() -> None:
    """Built-in resources are found by plural and by kind, in every version that is served."""
    registry = ResourceRegistry()
    assert registry.require("apps", "v1", "deployments") is registry.by_kind("apps", "v1", "Deployment")
    assert {
        each.version for each in registry if (each.group, each.kind) == ("autoscaling", "HorizontalPodAutoscaler")
    } == {
        "v1",
        "v2",
    }


def test_an_installed_definition_is_served_by_its_registry_only() -> None:
    """Two servers of one process share the built-in kinds, but not their custom resources."""
    registry, other = ResourceRegistry(), ResourceRegistry()
    install(registry, spec_schema({"size": {"type": "integer"}}))
    found = registry.require(GROUP, "v1", "things")
    assert (found.kind, found.is_custom) == ("Thing", True)
    assert other.find(GROUP, "v1", "things") is None


def test_a_definition_replaces_its_earlier_versions() -> None:
    """A version that a definition no longer has is no longer served."""
    registry = ResourceRegistry()
    install(registry, spec_schema({}), name="v1")
    install(registry, spec_schema({}), name="v2")
    assert [each.version for each in registry.installed(f"things.{GROUP}")] == ["v2"]
    assert registry.find(GROUP, "v1", "things") is None
