"""Distribution of endpoints over EndpointSlices."""

from __future__ import annotations

from typing import Any

from pyctrl.cluster._controllers.endpointslice.slices import MAX_ENDPOINTS_PER_SLICE, plan_slices
from pyctrl.cluster._controllers.service_pods import ServiceEndpoint, TargetPort
from pyctrl.kinds.core.v1 import Service


def service(name: str = "web", *, selector: dict[str, str] | None = None, **spec: Any) -> Service:
    """Make a service of the pods labelled web, at port 80."""
    chosen = {"tier": "web"} if selector is None else selector
    given: dict[str, Any] = {"selector": chosen, "ports": [{"name": "http", "port": 80, "targetPort": "http"}], **spec}
    metadata = {"name": name, "namespace": "default", "labels": {"team": "x"}}
    return Service.from_wire({"metadata": metadata, "spec": given})


def backend(number: int) -> ServiceEndpoint:
    """Make a pod behind a service."""
    return ServiceEndpoint(
        pod=f"p{number}",
        uid=f"uid-{number}",
        namespace="default",
        ip=f"10.0.0.{number}",
        node="",
        zone=None,
        hostname=None,
        is_ready=True,
        is_serving=True,
        is_terminating=False,
        ports=(TargetPort("http", 80, "TCP", None),),
    )


def test_a_slice_holds_a_hundred() -> None:
    """More pods go into more slices; those that stay keep their slice, and new ones take the room of those that go."""
    owner = service()
    owner.metadata.uid = "service"
    backends = [backend(number) for number in range(MAX_ENDPOINTS_PER_SLICE + 1)]
    made = plan_slices(owner, backends, []).create
    assert [len(each.endpoints) for each in made] == [MAX_ENDPOINTS_PER_SLICE, 1]
    for each, uid in zip(made, ("full", "small"), strict=True):
        each.metadata.uid = uid
    plan = plan_slices(owner, [*backends[1:], backend(200)], made)
    assert [(each.metadata.uid, len(each.endpoints)) for each in plan.update] == [("full", MAX_ENDPOINTS_PER_SLICE)]
    assert (plan.create, plan.delete) == ([], [])
