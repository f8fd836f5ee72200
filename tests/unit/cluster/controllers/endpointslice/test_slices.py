"""Distribution of endpoints over EndpointSlices."""

from __future__ import annotations

from pyctrl.cluster._controllers.endpointslice.slices import MAX_ENDPOINTS_PER_SLICE, plan_slices
from pyctrl.cluster._controllers.service_pods import ServiceEndpoint, TargetPort
from tests.unit.cluster._services import service


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
    """Further pods fill more slices; existing endpoints keep their slice, and new ones fill free capacity."""
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
