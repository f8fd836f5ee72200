"""Validation of the resources of containers and pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.resources import validate_container_resources, validate_pod_resources
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "1", "example.com/gpu": "1"}}, []),
        (
            {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
            ['r.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
        ),
        ({"requests": {"cpu": "-1"}}, ['r.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0']),
        (
            {"limits": {"pods": "1"}},
            ['r.limits[pods]: Invalid value: "pods": must be a standard resource for containers'],
        ),
        (
            {"limits": {"gpu": "1"}},
            [
                'r.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
                'r.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
            ],
        ),
        (
            {"limits": {"example.com/gpu": "1500m"}},
            ['r.limits[example.com/gpu]: Invalid value: "1500m": must be an integer'],
        ),
        (
            {"requests": {"example.com/gpu": "1"}},
            ["r.limits: Required value: Limit must be set for non overcommitable resources"],
        ),
        (
            {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}, "requests": {"hugepages-2Mi": "3Mi"}},
            [
                'r.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages',
                'r.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepag',
            ],
        ),
        ({"limits": {"hugepages-2Mi": "2Mi"}}, ["r: Forbidden: HugePages require cpu or memory"]),
        (
            {"claims": [{"name": "known"}, {"name": "known"}, {"name": "other"}, {}]},
            [
                'r.claims[1]: Duplicate value: "known"',
                'r.claims[2]: Not found: "other": must be one of the names in pod.spec.resourceClaims: known',
                "r.claims[3]: Required value",
            ],
        ),
    ],
)
def test_resources_of_containers(given: Any, refused: list[str]) -> None:
    """Requests are at most the limits, of resources that containers have, in whole numbers where they are counted."""
    assert refusals(validate_container_resources(given, "r", ["known", "known"])) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"resources": {"requests": {"cpu": "1"}}, "containers": [{"resources": {"requests": {"cpu": "1"}}}]}, []),
        (
            {"resources": {"requests": {"cpu": "1"}}, "containers": [{"resources": {"requests": {"cpu": "2"}}}]},
            ['spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate con'],
        ),
        (
            {"resources": {"limits": {"cpu": "1"}}, "containers": [{"resources": {"limits": {"cpu": "2"}}}]},
            ['spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod '],
        ),
        (
            {"resources": {"limits": {"ephemeral-storage": "1"}}},
            ['spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported valu'],
        ),
        ({"resources": {}, "os": {"name": "windows"}}, ["spec.resources: Forbidden: may not be set for a windows pod"]),
    ],
)
def test_resources_of_pods(given: Any, refused: list[str]) -> None:
    """The resources of a whole pod are enough for its containers."""
    assert refusals(validate_pod_resources(given, "spec")) == refused
