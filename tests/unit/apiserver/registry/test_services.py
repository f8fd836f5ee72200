"""Services: cluster IPs and node ports."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import create, update


def test_services_get_cluster_ips_and_node_ports() -> None:
    """Each service gets its own cluster IP and node port and keeps them on update; headless services get none."""
    registry = ResourceRegistry()

    def service(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80}], **spec},
        }

    first, _ = create(registry, service(type="NodePort"))
    second, _ = create(registry, service(type="NodePort"))
    assert first["spec"]["clusterIP"] != second["spec"]["clusterIP"]
    assert first["spec"]["ports"][0]["nodePort"] != second["spec"]["ports"][0]["nodePort"]
    replaced = update(registry, service(type="NodePort"), first)
    assert replaced["spec"] == first["spec"]
    headless, _ = create(registry, service(clusterIP="None", selector={"a": "b"}))
    assert headless["spec"]["clusterIPs"] == ["None"]


def test_node_ports_are_given_back_with_the_type_also_if_ports_are_removed() -> None:
    """A NodePort service that becomes a ClusterIP service loses its node ports, even if an update removes ports."""
    registry = ResourceRegistry()
    ports = [{"port": 80, "name": "http"}, {"port": 443, "name": "https"}]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "NodePort"}}
    made, _ = create(registry, {**service, "spec": {"type": "NodePort", "ports": ports}})
    spec = {**made["spec"], "type": "ClusterIP", "ports": made["spec"]["ports"][1:]}
    assert "nodePort" not in update(registry, {**made, "spec": spec}, made)["spec"]["ports"][0]


def test_a_service_that_is_no_longer_balanced_keeps_its_conditions() -> None:
    """The addresses of the load balancer go with the type; the conditions stay."""
    registry = ResourceRegistry()
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    made, _ = create(registry, {**service, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})
    time = "2026-01-01T00:00:00Z"
    up = {"type": "Up", "status": "True", "reason": "R", "message": "", "lastTransitionTime": time}
    live = {**made, "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4", "ipMode": "VIP"}]}, "conditions": [up]}}
    changed = update(registry, {**live, "spec": {**made["spec"], "type": "ClusterIP"}}, live)
    assert changed["status"] == {"loadBalancer": {}, "conditions": [up]}


def test_an_address_of_a_load_balancer_needs_its_mode(ask: Asker) -> None:
    """The mode is a default of services with a load balancer; a status patch that changes the type has none."""
    path = "/api/v1/namespaces/default/services"
    ask("POST", path, {"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})
    status = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    code, told = ask("PATCH", f"{path}/s/status", {"status": status, "spec": {"type": "ClusterIP"}}, headers=MERGE)
    where = "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set"
    assert (code, told["message"]) == (422, f'Service "s" is invalid: {where}')
    assert ask("PATCH", f"{path}/s/status", {"status": status}, headers=MERGE)[0] == 200
