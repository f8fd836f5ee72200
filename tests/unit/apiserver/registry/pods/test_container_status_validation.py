"""Validation of the statuses of a pod's containers."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.status_validation import validate_pod_status

OLD = {"podIPs": [{"ip": "odd"}]}
ENDED = {"name": "c", "state": {"terminated": {"exitCode": 1}}}
RUNS = {"name": "c", "state": {"running": {}}}


@pytest.mark.parametrize(
    ("policy", "container", "is_refused"),
    [
        ("Always", {}, False),
        ("OnFailure", {}, False),
        ("Never", {}, True),
        ("Never", {"restartPolicy": "Always"}, False),
        ("Always", {"restartPolicy": "Never"}, True),
        (
            "Never",
            {"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]},
            False,
        ),
        (
            "Never",
            {"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [1]}}]},
            True,
        ),
    ],
)
def test_a_container_that_ended_for_good_does_not_run_again(
    policy: str, container: dict[str, Any], is_refused: bool
) -> None:
    """A kubelet cannot report that a container runs which its restart policy does not start again."""
    spec = {"restartPolicy": policy, "containers": [{"name": "c", **container}]}
    new, old = {"spec": spec, "status": {"containerStatuses": [RUNS]}}, {"status": {"containerStatuses": [ENDED]}}
    found = [f"{each.field}: {each.message}" for each in validate_pod_status(new, {"spec": spec, **old})]
    why = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
    assert found == [why] * is_refused


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"containerStatuses": [{"name": "c", "allocatedResourcesStatus": [{"name": "gpu"}]}]}, []),
        (
            {"containerStatuses": [{"name": "c", "allocatedResourcesStatus": [{"name": "cpu"}]}]},
            ["containerStatuses[0].allocatedResourcesStatus[0].name"],
        ),
        (
            {
                "containerStatuses": [
                    {
                        "name": "c",
                        "allocatedResourcesStatus": [
                            {
                                "name": "gpu",
                                "resources": [{"resourceID": "a", "health": "Healthy"}, {"resourceID": "a"}],
                            }
                        ],
                    }
                ]
            },
            [
                "containerStatuses[0].allocatedResourcesStatus[0].resources[1].health",
                "containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID",
            ],
        ),
        (
            {"extendedResourceClaimStatus": {}},
            ["extendedResourceClaimStatus.requestMappings", "extendedResourceClaimStatus.resourceClaimName"],
        ),
        (
            {
                "extendedResourceClaimStatus": {
                    "resourceClaimName": "r",
                    "requestMappings": [
                        {"containerName": "c", "resourceName": "gpu", "requestName": "a"},
                        {"containerName": "d", "resourceName": "gpu", "requestName": "a"},
                    ],
                }
            },
            ["extendedResourceClaimStatus.requestMappings[1].containerName"],
        ),
        ({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "odd"}]}, ["podIPs", "podIPs"]),
    ],
)
def test_resources_of_containers_are_those_of_the_spec(status: dict[str, Any], expected: list[str]) -> None:
    """The health of resources and the claim for extended resources name requests of the pod's containers."""
    spec = {"containers": [{"name": "c", "resources": {"requests": {"gpu": "1"}}}]}
    new = {"spec": spec, "status": status}
    found = [each.field for each in validate_pod_status(new, {"spec": spec, "status": OLD})]
    assert found == [f"status.{each}" for each in expected]
