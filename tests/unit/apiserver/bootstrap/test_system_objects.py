"""The objects that a new server has."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random

import pytest

from pyctrl import _clock
from pyctrl.apiserver import ApiServer, ClusterAuthenticationInfo, ResourceRegistry
from tests.unit.apiserver._kit import Asker

FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
NETWORKING = "/apis/networking.k8s.io/v1"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _names(ask: Asker, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in ask("GET", path)[1]["items"]}


def test_a_new_server_has_system_objects(ask: Asker) -> None:
    """Served group versions have an APIService; namespaces and priority classes of the system exist."""
    services = _names(ask, "/apis/apiregistration.k8s.io/v1/apiservices")
    assert {"v1.", "v1.apps", "v2.autoscaling"} <= services
    assert "v1.apiregistration.k8s.io" not in services
    assert _names(ask, "/api/v1/namespaces") == {"default", "kube-node-lease", "kube-public", "kube-system"}
    _, found = ask("GET", "/apis/scheduling.k8s.io/v1/priorityclasses")
    assert {each["metadata"]["name"]: each["value"] for each in found["items"]} == {
        "system-node-critical": 2_000_001_000,
        "system-cluster-critical": 2_000_000_000,
    }


def test_flow_control_has_the_suggested_and_the_mandatory_configuration(ask: Asker) -> None:
    """FlowSchemas and priority levels are those of kube-apiserver 1.36, and each FlowSchema finds its level."""
    levels = _names(ask, f"{FLOWS}/prioritylevelconfigurations")
    assert len(levels) == 8
    _, found = ask("GET", f"{FLOWS}/flowschemas")
    assert len(found["items"]) == 11
    assert {each["spec"]["priorityLevelConfiguration"]["name"] for each in found["items"]} <= levels
    conditions = [each["status"]["conditions"] for each in found["items"]]
    assert {(each["type"], each["status"], each["reason"]) for [each] in conditions} == {("Dangling", "False", "Found")}


def test_the_service_kubernetes_has_the_first_address_of_the_range() -> None:
    """The service, its IPAddress and the ServiceCIDR follow from the range of cluster IPs."""
    ask = Asker(ApiServer(registry=ResourceRegistry(service_cluster_ip_range="10.96.0.0/16")))
    _, service = ask("GET", "/api/v1/namespaces/default/services/kubernetes")
    assert service["spec"]["clusterIPs"] == ["10.96.0.1"]
    _, address = ask("GET", f"{NETWORKING}/ipaddresses/10.96.0.1")
    assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "kubernetes"}
    _, cidr = ask("GET", f"{NETWORKING}/servicecidrs/kubernetes")
    assert (cidr["spec"], cidr["status"]["conditions"][0]["status"]) == ({"cidrs": ["10.96.0.0/16"]}, "True")
    _, endpoints = ask("GET", "/api/v1/namespaces/default/endpoints/kubernetes")
    assert endpoints["subsets"][0]["ports"] == [{"name": "https", "port": 6443, "protocol": "TCP"}]


def test_times_and_uids_are_of_this_server() -> None:
    """Placeholders of the recorded objects have values: times are those of the clock, uids are drawn."""
    with _clock.use(lambda: NOON):
        ask = Asker(ApiServer(random=Random(1)))
        _, leases = ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")
        [lease] = leases["items"]
        assert re.fullmatch("apiserver-[a-z2-7]{26}", lease["metadata"]["name"])
        assert lease["spec"]["holderIdentity"].startswith(lease["metadata"]["name"])
        assert lease["spec"]["renewTime"] == "2026-01-01T12:00:00.000000Z"
        assert lease["metadata"]["creationTimestamp"] == "2026-01-01T12:00:00Z"
        assert lease["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
        assert "$" not in str(lease)


def test_a_server_that_is_served_has_a_config_map() -> None:
    """The ConfigMap about tokens exists from the moment on when the server publishes how users authenticate."""
    path = "/api/v1/namespaces/kube-system/configmaps"
    with _clock.use(lambda: NOON):
        ask = Asker()
        assert ask("GET", path)[1]["items"] == []
        ask.server.publish_authentication(ClusterAuthenticationInfo(client_ca=b""))
        [tracking] = ask("GET", path)[1]["items"]
        assert tracking["metadata"]["name"] == "kube-apiserver-legacy-service-account-token-tracking"
        assert tracking["data"] == {"since": "2026-01-01"}
        assert ask("DELETE", f"{path}/{tracking['metadata']['name']}")[0] == 200
        assert len(ask("GET", path)[1]["items"]) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/services/kubernetes",
        "/api/v1/namespaces/default/endpoints/kubernetes",
        f"{FLOWS}/flowschemas/catch-all",
        f"{NETWORKING}/servicecidrs/kubernetes",
        f"{NETWORKING}/ipaddresses/10.0.0.1",
    ],
)
def test_a_deleted_system_object_is_created_again(ask: Asker, path: str) -> None:
    """The object exists again after its deletion, as another one."""
    _, before = ask("GET", path)
    assert ask("DELETE", path)[0] == 200
    code, after = ask("GET", path)
    assert code == 200
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec" if "spec" in after else "subsets"] == before["spec" if "spec" in before else "subsets"]
