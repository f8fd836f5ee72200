"""Documents of a kubelet: its pods, its configuration, and the statistics of a node on which no process runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyctrl._go.times import parse_rfc3339
from pyctrl._metrics import MetricFamily, gauge
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._metrics.server_metrics import TEXT
from pyctrl.apiserver._metrics.text_format import encode_text

__all__ = [
    "configuration",
    "machine_metrics",
    "metrics",
    "pod_list",
    "probe_metrics",
    "resource_metrics",
    "running_pod_list",
    "summary",
]

Document = dict[str, Any]

KUBELET_PORT = 10250


def pod_list(pods: Iterable[Document]) -> Document:
    """Return the PodList of the pods that are bound to a node."""
    items = [{key: value for key, value in pod.items() if key not in ("apiVersion", "kind")} for pod in pods]
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}


def running_pod_list(pods: Iterable[Document]) -> Document:
    """Return the PodList of the pods with a running container, as a container runtime knows them."""
    items = []
    for pod in pods:
        if running := [{"name": each["name"], "image": each["image"]} for each in _running(pod)]:
            metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
            items.append({"metadata": metadata, "spec": {"containers": running}, "status": {}})
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}


def configuration(node: Document) -> Document:
    """Return `/configz`: what is configured of a kubelet by its node."""
    status = node.get("status") or {}
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or KUBELET_PORT
    found: Document = {"enableServer": True, "port": port, "enableDebuggingHandlers": True}
    if pods := (status.get("capacity") or {}).get("pods"):
        found["maxPods"] = int(pods)
    if taints := (node.get("spec") or {}).get("taints"):
        found["registerWithTaints"] = taints
    return {"kubeletconfig": found}


def summary(node: Document, pods: Iterable[Document]) -> Document:
    """Return `/stats/summary`, without usage: no process runs."""
    metadata = node.get("metadata") or {}
    return {
        "node": {"nodeName": metadata.get("name", ""), "startTime": metadata.get("creationTimestamp")},
        "pods": [
            {
                "podRef": {key: pod["metadata"][key] for key in ("name", "namespace", "uid")},
                "startTime": (pod.get("status") or {}).get("startTime"),
                "containers": [{"name": each["name"], "startTime": _started(each)} for each in running],
            }
            for pod in pods
            if (running := list(_running(pod)))
        ],
    }


def metrics(node: str, pods: Sequence[Document]) -> Response:
    """Return `/metrics`: the counts of pods and containers."""
    states: dict[str, int] = {}
    for each in (status for pod in pods for status in _container_statuses(pod)):
        state = next(iter(each.get("state") or {}), "")
        name = {"running": "running", "terminated": "exited", "waiting": "created"}.get(state, "unknown")
        states[name] = states.get(name, 0) + 1
    containers = [({"container_state": state}, count) for state, count in sorted(states.items())]
    running = sum(1 for pod in pods if any(_running(pod)))
    return _text(
        gauge("kubelet_node_name", "[ALPHA] The node's name. The count is always 1.", ({"node": node}, 1)),
        gauge("kubelet_running_containers", "[ALPHA] Number of containers currently running", *containers),
        gauge("kubelet_running_pods", "[ALPHA] Number of pods that have a running pod sandbox", ({}, running)),
    )


def machine_metrics(node: Document) -> Response:
    """Return `/metrics/cadvisor`: the size of the node."""
    capacity = (node.get("status") or {}).get("capacity") or {}
    labels = {"boot_id": "", "machine_id": "", "system_uuid": ""}
    return _text(
        gauge("machine_cpu_cores", "Number of logical CPU cores.", (labels, _number(capacity, "cpu"))),
        gauge(
            "machine_memory_bytes", "Amount of memory installed on the machine.", (labels, _number(capacity, "memory"))
        ),
    )


def resource_metrics(pods: Iterable[Document]) -> Response:
    """Return `/metrics/resource`, without usage."""
    samples = [
        (
            {"container": each["name"], "namespace": pod["metadata"]["namespace"], "pod": pod["metadata"]["name"]},
            parse_rfc3339(_started(each)).timestamp(),
        )
        for pod in pods
        for each in _running(pod)
    ]
    return _text(
        gauge(
            "container_start_time_seconds",
            "[STABLE] Start time of the container since unix epoch in seconds",
            *samples,
        ),
        gauge(
            "resource_scrape_error",
            "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
            ({}, 0),
        ),
    )


def probe_metrics() -> Response:
    """Return `/metrics/probes`: the probes of simulated containers are not run."""
    return _text()


def _container_statuses(pod: Document) -> Iterator[Document]:
    status = pod.get("status") or {}
    for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        yield from status.get(key) or ()


def _running(pod: Document) -> Iterator[Document]:
    """Yield the statuses of the running containers of a pod."""
    return (each for each in _container_statuses(pod) if "running" in (each.get("state") or {}))


def _started(container: Document) -> str:
    started: str = container["state"]["running"]["startedAt"]
    return started


def _number(capacity: Mapping[str, str], name: str) -> float:
    return float(Quantity(capacity.get(name, "0")).value)


def _text(*families: MetricFamily) -> Response:
    return Response(status=200, headers=TEXT, body=encode_text(families).encode())
