"""The registry of a server's resources."""

from __future__ import annotations

from pyctrl.apiserver import ApiServer, ResourceRegistry
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import GROUP, install, spec_schema

SERVICES = "/api/v1/namespaces/default/services"


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


def test_services_are_allocated_from_the_ranges_of_their_server() -> None:
    """Cluster IPs and node ports are from the ranges of the registry, and the service `kubernetes` has the first IP."""
    registry = ResourceRegistry(service_cluster_ip_range="10.9.0.0/28", service_node_port_range=range(200, 203))
    ask = Asker(ApiServer(registry=registry))
    assert ask("GET", f"{SERVICES}/kubernetes")[1]["spec"]["clusterIP"] == "10.9.0.1"
    spec = {"type": "NodePort", "ports": [{"port": 80}]}
    code, made = ask("POST", SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    assert (code, made["spec"]["ports"][0]["nodePort"]) == (201, 200)
    assert made["spec"]["clusterIP"].startswith("10.9.0.")
    code, refused = ask("POST", SERVICES, {"metadata": {"name": "b"}, "spec": {**spec, "clusterIP": "10.0.0.9"}})
    assert code == 422
    assert "the provided network does not match the current range" in refused["message"]
    assert Asker()("GET", f"{SERVICES}/kubernetes")[1]["spec"]["clusterIP"] == "10.0.0.1"
