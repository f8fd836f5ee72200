"""Helpers of the tests of services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyctrl.client import Client, wait_for_list
from pyctrl.kinds.core.v1 import Pod, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice
from tests.unit.cluster._pods import pod


def service(name: str = "web", *, selector: dict[str, str] | None = None, **spec: Any) -> Service:
    """Make a service of the pods labelled web, at port 80."""
    chosen = {"tier": "web"} if selector is None else selector
    given: dict[str, Any] = {"selector": chosen, "ports": [{"name": "http", "port": 80, "targetPort": "http"}], **spec}
    metadata = {"name": name, "namespace": "default", "labels": {"team": "x"}}
    return Service.from_wire({"metadata": metadata, "spec": given})


def web_pod(name: str, port: int = 8080, *, annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    """Make a pod that the service selects, with its port by name."""
    containers = [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": port}]}]
    made = pod(name, annotations=annotations, containers=containers, **spec)
    made.metadata.labels["tier"] = "web"
    return made


async def slices(
    client: Client, are_so: Callable[[Sequence[EndpointSlice]], bool], name: str = "web"
) -> Sequence[EndpointSlice]:
    """Wait for a condition on the slices of a service."""
    return await wait_for_list(client, EndpointSlice, are_so, labels={"kubernetes.io/service-name": name})


def ready(found: Sequence[EndpointSlice]) -> dict[str, tuple[bool | None, bool | None, bool | None]]:
    """Return the conditions of endpoints by the names of their pods."""
    return {
        endpoint.target_ref.name or "": (
            endpoint.conditions.ready,
            endpoint.conditions.serving,
            endpoint.conditions.terminating,
        )
        for each in found
        for endpoint in each.endpoints
        if endpoint.target_ref is not None
    }
