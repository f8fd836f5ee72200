"""Documents of a kubelet, from its node and its pods."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver import Response
from pyctrl.apiserver._registry._nodes import node_documents

STARTED = "2024-01-01T00:00:00Z"
NODE: dict[str, Any] = {
    "metadata": {"name": "n", "creationTimestamp": STARTED},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
    "status": {
        "capacity": {"cpu": "4", "memory": "1Ki", "pods": "110"},
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10251}},
    },
}


def pod(name: str, *states: str) -> dict[str, Any]:
    """Return a pod with a container in each of some states."""
    known = {"running": {"startedAt": STARTED}, "terminated": {"exitCode": 0}, "waiting": {}}
    statuses = [{"name": state, "image": "i", "state": {state: known[state]}} for state in states]
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"kind": "Pod", "metadata": metadata, "spec": {}, "status": {"containerStatuses": statuses}}


PODS = [pod("a", "running", "terminated"), pod("b", "waiting")]


def text(response: Response) -> list[str]:
    """Return the samples of a document of metrics."""
    assert isinstance(response.body, bytes)
    return [line for line in response.body.decode().splitlines() if not line.startswith("#")]


def test_pods_that_run_have_a_running_container() -> None:
    """Only these containers are listed."""
    (found,) = node_documents.running_pod_list(PODS)["items"]
    assert (found["metadata"]["uid"], found["spec"]) == ("uid-a", {"containers": [{"name": "running", "image": "i"}]})
    assert len(node_documents.pod_list(PODS)["items"]) == 2


def test_the_configuration_is_that_of_the_node() -> None:
    """Its port, its taints and its limit of pods."""
    found = node_documents.configuration(NODE)["kubeletconfig"]
    assert (found["port"], found["maxPods"], found["registerWithTaints"]) == (10251, 110, NODE["spec"]["taints"])
    assert node_documents.configuration({})["kubeletconfig"]["port"] == 10250


def test_the_summary_has_start_times() -> None:
    """Of the node and of running containers."""
    found = node_documents.summary(NODE, PODS)
    assert found["node"] == {"nodeName": "n", "startTime": STARTED}
    assert [each["podRef"]["name"] for each in found["pods"]] == ["a"]
    assert found["pods"][0]["containers"] == [{"name": "running", "startTime": STARTED}]


def test_metrics_count_containers_by_state() -> None:
    """And give the size of the node and the start of containers."""
    counts = [f'kubelet_running_containers{{container_state="{each}"}} 1' for each in ("created", "exited", "running")]
    assert text(node_documents.metrics("n", PODS)) == [
        'kubelet_node_name{node="n"} 1',
        *counts,
        "kubelet_running_pods 1",
    ]
    machine = '{boot_id="",machine_id="",system_uuid=""}'
    sizes = [f"machine_cpu_cores{machine} 4", f"machine_memory_bytes{machine} 1024"]
    assert text(node_documents.machine_metrics(NODE)) == sizes
    started, _ = text(node_documents.resource_metrics(PODS))
    name, _, value = started.rpartition(" ")
    assert name == 'container_start_time_seconds{container="running",namespace="default",pod="a"}'
    assert float(value) == 1704067200
    assert text(node_documents.probe_metrics()) == []
