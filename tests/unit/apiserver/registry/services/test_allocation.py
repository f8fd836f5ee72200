"""Allocation of cluster IPs and node ports."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver._objects import complaints, create


def service(**spec: Any) -> dict[str, Any]:
    """Return a Service."""
    made = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": made}


def _refused(**spec: Any) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), service(**spec))
    return complaints(refused.value)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            {"clusterIP": "10.9.9.9"},
            'spec.clusterIPs: Invalid value: ["10.9.9.9"]: failed to allocate IP 10.9.9.9',
        ),
        (
            {"clusterIP": "10.0.0.255"},
            'spec.clusterIPs: Invalid value: ["10.0.0.255"]: failed to allocate IP 10.0.0.255',
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid p",
        ),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        ({"ipFamilies": ["IPv4", "IPv6"]}, 'spec.ipFamilyPolicy: Invalid value: "SingleStack": must be'),
        ({"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "10.0.0.8"]}, "spec.clusterIPs: Invalid value: ["),
        ({"clusterIP": "fd00::7"}, 'spec.clusterIPs[0]: Invalid value: ["fd00::7"]: IPv6 is not configured'),
        ({"ports": [], "ipFamilyPolicy": "x"}, 'spec.ipFamilyPolicy: Unsupported value: "x"'),
        ({"ipFamilyPolicy": "RequireDualStack"}, 'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this'),
    ],
)
def test_what_is_not_available_is_refused(spec: dict[str, Any], complaint: str) -> None:
    """IPs and ports are allocated from the ranges of the server, which has IPv4 only."""
    assert _refused(**spec)[0].startswith(complaint)


def test_the_families_of_a_service() -> None:
    """Services have IPv4; headless ones without a selector have both families."""
    for spec, families in (({}, ["IPv4"]), ({"clusterIP": "None"}, ["IPv4", "IPv6"])):
        created, _ = create(ResourceRegistry(), service(**spec))
        assert created["spec"]["ipFamilies"] == families


def _ports(*ports: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"p{index}", **port} for index, port in enumerate(ports)]


def test_ports_of_a_new_service_share_a_node_port_with_the_same_number(ask: Asker) -> None:
    """TCP and UDP of one port get one node port, requested or not; other ports may not request it."""
    udp = {"port": 53, "protocol": "UDP"}
    for given in ({}, {"nodePort": 30053}):
        made, _ = create(ResourceRegistry(), service(type="NodePort", ports=_ports({"port": 53, **given}, udp)))
        first, second = (port["nodePort"] for port in made["spec"]["ports"])
        assert first == second == given.get("nodePort", first)

    other = {"port": 54, "protocol": "UDP", "nodePort": 30053}
    refusals = _refused(type="NodePort", ports=_ports({"port": 53, "nodePort": 30053}, other))
    assert refusals == ["spec.ports[1].nodePort: Invalid value: 30053: provided port is already allocated"]


def test_a_changed_service_may_have_one_node_port_for_two_protocols(ask: Asker) -> None:
    """An update may use a node port for TCP and UDP, but not twice for one protocol."""
    services = "/api/v1/namespaces/default/services"
    ask("POST", services, service(type="NodePort", ports=_ports({"port": 1, "nodePort": 30001})))

    both = _ports({"port": 1, "nodePort": 30002}, {"port": 2, "protocol": "UDP", "nodePort": 30002})
    code, changed = ask("PATCH", f"{services}/s", {"spec": {"ports": both}}, headers=MERGE)
    assert (code, [port["nodePort"] for port in changed["spec"]["ports"]]) == (200, [30002, 30002])

    twice = _ports({"port": 1, "nodePort": 30003}, {"port": 2, "nodePort": 30003})
    code, refused = ask("PATCH", f"{services}/s", {"spec": {"ports": twice}}, headers=MERGE)
    assert (code, refused["message"]) == (500, "duplicate nodePort: {TCP 30003}")


def test_a_requested_port_for_health_checks_is_allocated(ask: Asker) -> None:
    """A requested health check port must be free and in the range of node ports; kube-apiserver answers 500 if not."""
    services, ports = "/api/v1/namespaces/default/services", [{"port": 80, "nodePort": 30001}]
    local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": ports}
    for number, why in ((-1, "not in the valid range"), (30001, "already allocated")):
        code, told = ask("POST", services, service(**local, healthCheckNodePort=number))
        assert (code, told["reason"]) == (500, "InternalError")
        assert f"failed to allocate requested HealthCheck NodePort {number}: provided port is {why}" in told["message"]
    code, made = ask("POST", services, service(**local, healthCheckNodePort=30002))
    assert (code, made["spec"]["healthCheckNodePort"]) == (201, 30002)


def test_addresses_come_from_each_ready_range() -> None:
    """A service may have an address of another ServiceCIDR that is ready, and gets one when the first range is full."""
    ask = Asker(ApiServer(registry=ResourceRegistry(service_cluster_ip_range="10.0.0.0/29")))
    ranges, services = "/apis/networking.k8s.io/v1/servicecidrs", "/api/v1/namespaces/default/services"
    wanted = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}], "clusterIP": "10.9.0.3"}}
    assert ask("POST", ranges, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.9.0.0/29"]}})[0] == 201
    assert ask("POST", services, wanted)[0] == 422
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "message": "",
    }
    assert ask("PATCH", f"{ranges}/more/status", {"status": {"conditions": [ready]}}, headers=MERGE)[0] == 200
    assert ask("POST", services, wanted)[0] == 201
    plain = {"metadata": {"generateName": "b-"}, "spec": {"ports": [{"port": 80}]}}
    found = [ask("POST", services, plain)[1]["spec"]["clusterIP"] for _ in range(6)]
    assert sorted(found)[:5] == [f"10.0.0.{number}" for number in range(2, 7)]
    assert sorted(found)[5:] == ["10.9.0.1"]
    assert ask("DELETE", f"{ranges}/more")[0] == 200
    assert ask("POST", services, plain)[0] == 500


def _dry(ask: Asker, **spec: Any) -> tuple[int, dict[str, Any]]:
    return ask("POST", "/api/v1/namespaces/default/services", service(**spec), dryRun="All")


def test_a_dry_run_allocates_nothing(ask: Asker) -> None:
    """A dry run gets the address of the network and ports above the range, and may ask for an address that is taken."""
    taken = service(clusterIP="10.0.0.7", type="NodePort", ports=[{"port": 80, "nodePort": 30007}])
    ask("POST", "/api/v1/namespaces/default/services", {**taken, "metadata": {"name": "taken"}})
    code, made = _dry(ask, type="NodePort", ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "b"}])
    assert (code, made["spec"]["clusterIPs"]) == (201, ["10.0.0.0"])
    assert [each["nodePort"] for each in made["spec"]["ports"]] == [32769, 32770]
    assert _dry(ask, clusterIP="10.0.0.7")[0] == 201


def test_a_dry_run_checks_the_range_of_addresses_and_free_ports(ask: Asker) -> None:
    """A dry run is refused an address outside of the range, and a node port that is taken."""
    taken = service(type="NodePort", ports=[{"port": 80, "nodePort": 30007}])
    ask("POST", "/api/v1/namespaces/default/services", {**taken, "metadata": {"name": "taken"}})
    code, refused = _dry(ask, clusterIP="10.9.9.9")
    why = "the provided IP (10.9.9.9) is not in the valid range. The range of valid IPs is 10.0.0.0/24"
    assert (code, why in refused["message"]) == (422, True)
    code, refused = _dry(ask, type="NodePort", ports=[{"port": 80, "nodePort": 30007}])
    assert (code, "provided port is already allocated" in refused["message"]) == (422, True)


def test_a_dry_run_counts_on_after_the_largest_port(ask: Asker) -> None:
    """After a requested port that is the largest int32 follows the smallest int32, which is refused as in Go."""
    ports = [{"port": 80, "nodePort": 2**31 - 1}]
    code, refused = _dry(ask, type="LoadBalancer", externalTrafficPolicy="Local", ports=ports)
    found = {each["field"]: each["message"] for each in refused["details"]["causes"]}
    assert code == 422
    assert "Invalid value: -2147483648: must be between" in found["spec.healthCheckNodePort"]


@pytest.mark.parametrize("requested", ["", "10.0.0.77"])
def test_a_service_without_a_name_gets_no_address(ask: Asker, requested: str) -> None:
    """The IPAddress of a service names it, so a service without a name is refused before its name is looked at."""
    made = {"metadata": {}, "spec": {"ports": [{"port": 80}], **({"clusterIP": requested} if requested else {})}}
    code, refused = ask("POST", "/api/v1/namespaces/default/services", made)
    cause = refused["details"]["causes"][0]
    assert (code, cause["field"]) == (422, "spec.clusterIPs")
    assert f'Invalid value: ["{requested}"]: failed to allocate IP' in cause["message"]
    assert cause["message"].endswith("is invalid: spec.parentRef.name: Required value")
    code, refused = ask("POST", "/api/v1/namespaces/default/services", made, dryRun="All")
    assert [each["field"] for each in refused["details"]["causes"]] == ["metadata.name"]
