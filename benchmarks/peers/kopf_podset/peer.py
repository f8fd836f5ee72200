"""Peer: the PodSet operator on kopf with the official client, as in its documentation. KUBECONFIG selects the server.

Handlers are synchronous and run in kopf's threads. Pods are in an index, and a change of a pod patches the status.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

import kopf
import kubernetes
from peers._commands import Facts, packages, serve

clients: Any = kubernetes.client  # its types differ from the accepted arguments
GROUP = ("apps.jicki.cn", "v1alpha1", "podsets")
STAMP = "benchmarks/written"
LABELED = {"podSet_cr": kopf.PRESENT}


def labels_for(name: str) -> dict[str, str]:
    """Return the labels that the pods of a PodSet carry."""
    return {"app": "podSet", "podSet_cr": name}


def deployment_for(name: str, size: int) -> dict[str, Any]:
    """Make the Deployment for a PodSet."""
    labels = labels_for(name)
    container: dict[str, Any] = {"name": "podset", "image": "busybox", "command": ["sleep", "3600"]}
    container["ports"] = [{"name": "podset", "containerPort": 1234}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": size, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


class Arrivals:
    """The age of each write when a handler first received it."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._latencies: list[int] = []

    async def note(self, name: str, annotations: Any, **_: Any) -> None:
        """Handle an event of a PodSet."""
        written = annotations.get(STAMP)
        if written and self._last.get(name) != written:
            self._latencies.append(time.monotonic_ns() - int(written))
            self._last[name] = written

    async def take(self) -> Facts:
        """Return the ages since the last call, in nanoseconds."""
        taken, self._latencies = self._latencies, []
        return {"nanoseconds": taken}


def pods(namespace: str, name: str, labels: Any, **_: Any) -> dict[tuple[str, str], str]:
    """Index the names of pods by their PodSet."""
    return {(namespace, labels["podSet_cr"]): name}


def created(name: str, namespace: str, spec: Any, **_: Any) -> None:
    """Create the Deployment."""
    deployment = deployment_for(name, spec["size"])
    kopf.adopt(deployment)
    try:
        clients.AppsV1Api().create_namespaced_deployment(namespace, deployment)
    except clients.ApiException as error:
        if error.status != 409:  # created before a restart
            raise


def scaled(name: str, namespace: str, new: int, **_: Any) -> None:
    """Scale the Deployment."""
    body = {"spec": {"replicas": new}}
    clients.AppsV1Api().patch_namespaced_deployment(name, namespace, body)


def pod_seen(namespace: str, labels: Any, pods: Any, podsets: Any, **_: Any) -> None:
    """Update the names in the status of the pod's PodSet."""
    name = labels["podSet_cr"]
    names = sorted(pods.get((namespace, name), ()))
    if names == next(iter(podsets.get((namespace, name), ())), None):
        return
    body = {"status": {"nodes": names}}
    api = clients.CustomObjectsApi()
    try:
        api.patch_namespaced_custom_object_status(*GROUP[:2], namespace, GROUP[2], name, body)
    except clients.ApiException as error:
        if error.status != 404:  # deleted
            raise


def podsets(namespace: str, name: str, status: Any, **_: Any) -> dict[tuple[str, str], list[str]]:
    """Index the status of a PodSet."""
    return {(namespace, name): list(status.get("nodes", []))}


def registered(arrivals: Arrivals) -> kopf.OperatorRegistry:
    """Return the registry of handlers."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
    kopf.index("pods", labels=LABELED, registry=registry)(pods)
    kopf.index(*GROUP, registry=registry)(podsets)
    kopf.on.create(*GROUP, registry=registry)(created)
    kopf.on.update(*GROUP, field="spec.size", registry=registry)(scaled)
    kopf.on.event("pods", labels=LABELED, registry=registry)(pod_seen)
    kopf.on.event(*GROUP, registry=registry)(arrivals.note)
    return registry


async def main() -> None:
    """Run the peer with its arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, help="kopf has no such thing: each object has a task of its own")
    parser.parse_args()
    configs: Any = kubernetes.config
    configs.load_kube_config()
    arrivals, ready = Arrivals(), asyncio.Event()
    registry = registered(arrivals)
    kopf.configure()
    running: list[asyncio.Task[Any]] = []

    async def start() -> Facts:
        operator = kopf.operator(registry=registry, standalone=True, clusterwide=True, ready_flag=ready)
        running.append(asyncio.ensure_future(operator))
        await ready.wait()
        return {}

    await serve({"start": start, "latencies": arrivals.take}, packages("kopf", "kubernetes", "aiohttp"))
    for task in running:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
