"""Resource requests of pods."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pyctrl.cluster._pod_requests import pod_requests
from tests.unit.cluster._pods import pod


def container(cpu: str, **more: Any) -> dict[str, Any]:
    """Make a container with a CPU request."""
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([], "3"),
        ([container("5")], "5"),
        ([container("1", restartPolicy="Always")], "4"),
        ([container("1", restartPolicy="Always"), container("2.5")], "4"),
        ([container("1", restartPolicy="Always"), container("5")], "6"),
    ],
)
def test_requests_are_those_of_the_busiest_phase(init: list[dict[str, Any]], cpu: str) -> None:
    """Requests of sidecars add to those of init containers and containers; overhead and one pod are added."""
    found = pod_requests(pod(containers=[container("1"), container("2")], initContainers=init, overhead={"cpu": "1"}))
    assert found == {"cpu": Decimal(cpu) + 1, "pods": 1}


def test_requests_of_the_pod_itself_replace_those_of_its_containers() -> None:
    """A pod that requests CPU itself requests that, with its overhead, and the memory of its containers."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "5", "memory": "1Gi"}}}]
    found = pod_requests(pod(containers=containers, resources={"requests": {"cpu": "2"}}, overhead={"cpu": "1"}))
    assert found == {"cpu": Decimal(3), "memory": Decimal(2**30), "pods": 1}
