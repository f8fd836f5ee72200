"""QoS classes of pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.quality_of_service import quality_of_service

SMALL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("containers", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "0"}}], "BestEffort"),
        ([{"requests": {"ephemeral-storage": "1Gi"}}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"requests": SMALL, "limits": SMALL}], "Guaranteed"),
        ([{"requests": SMALL, "limits": {"cpu": "2", "memory": "1Gi"}}], "Burstable"),
        ([{"requests": SMALL, "limits": SMALL}, {}], "Burstable"),
    ],
)
def test_resources_decide(containers: list[dict[str, Any]], quality: str) -> None:
    """The class follows from requests and limits of CPU and memory of all containers."""
    spec = {"containers": [{"resources": each} for each in containers[:1]]}
    spec["initContainers"] = [{"resources": each} for each in containers[1:]]
    assert quality_of_service(spec) == quality


def test_resources_of_the_pod_come_first() -> None:
    """A pod with resources of its own has the class of those."""
    containers: list[dict[str, Any]] = [{"resources": {}}]
    assert quality_of_service({"containers": containers, "resources": {"requests": SMALL}}) == "Burstable"
    assert (
        quality_of_service({"containers": containers, "resources": {"requests": SMALL, "limits": SMALL}})
        == "Guaranteed"
    )
