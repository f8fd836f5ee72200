"""Replicas that follow from metrics of pods. The expected values follow upstream's calculator."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.api import format_time
from pyctrl.cluster._controllers.podautoscaler.metrics_client import MetricsError, PodMetric
from pyctrl.cluster._controllers.podautoscaler.replica_calculator import (
    Tolerances,
    per_pod_replicas,
    plain_replicas,
    ratio_replicas,
    resource_replicas,
)
from pyctrl.kinds.core.v1 import Pod

pytestmark = pytest.mark.virtual_time

TOLERANCES = Tolerances(0.1, 0.1)
WINDOW = timedelta(seconds=30)


def pod(name: str, phase: str = "Running", *, ready: bool = True, age: int = 3600, cpu: str = "1", **spec: Any) -> Pod:
    """Make a pod that started and changed its readiness some seconds ago."""
    then = format_time(_clock.now() - timedelta(seconds=age))
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": then}
    return Pod.from_wire(
        {
            "metadata": {"name": name},
            "spec": {"containers": [container], **spec},
            "status": {"phase": phase, "startTime": then, "conditions": [condition]},
        }
    )


def metrics(**values: int) -> dict[str, PodMetric]:
    """Return metrics that were measured now."""
    return {name: PodMetric(value, _clock.now(), WINDOW) for name, value in values.items()}


def by_cpu(values: dict[str, PodMetric], pods: list[Pod], current: int, target: int = 50) -> tuple[int, int | None]:
    """Return the replicas and the utilization for a CPU target in percent."""
    usage = resource_replicas(values, pods, current, target, "cpu", "", TOLERANCES)
    return usage.replicas, usage.utilization


@pytest.mark.parametrize(
    ("used", "wanted"), [(500, (2, 50)), (540, (2, 54)), (560, (3, 56)), (900, (4, 90)), (200, (1, 20))]
)
async def test_cpu_above_the_target_adds_pods(used: int, wanted: tuple[int, int]) -> None:
    """Replicas follow the ratio of utilization and target, unless it is within the tolerance of a tenth."""
    assert by_cpu(metrics(a=used, b=used), [pod("a"), pod("b")], 2) == wanted


async def test_pods_without_metrics_damp_the_change() -> None:
    """A pod without metrics counts as idle when scaling up, and as using its request when scaling down."""
    pods = [pod("a"), pod("b"), pod("c")]
    assert by_cpu(metrics(a=1000, b=1000), pods, 3) == (4, 100)  # 67 %, not 100 %, of the target 50
    assert by_cpu(metrics(a=100, b=100), pods, 3) == (3, 10)  # 40 % of 50
    assert by_cpu(metrics(a=10, b=10), pods, 3, target=80) == (2, 1)


async def test_pods_that_start_do_not_count_when_scaling_down() -> None:
    """Pending pods, and pods that are not ready yet, are idle when scaling up and left out when scaling down."""
    pods = [pod("a"), pod("b", "Pending"), pod("c", ready=False, age=60)]
    assert by_cpu(metrics(a=1000, c=1000), pods, 3) == (3, 100)
    assert by_cpu(metrics(a=100, c=1000), pods, 3) == (1, 10)


async def test_cpu_of_the_first_minutes_counts_after_a_whole_window() -> None:
    """A young pod counts once its metric was measured in a window after it became ready."""
    pods = [pod("a"), pod("b", age=20)]
    assert by_cpu(metrics(a=100, b=2000), pods, 2) == (1, 10)
    pods = [pod("a"), pod("b", age=40)]
    assert by_cpu(metrics(a=100, b=2000), pods, 2) == (5, 105)


async def test_failed_pods_are_ignored() -> None:
    """Metrics of failed pods do not count."""
    assert by_cpu(metrics(a=800, b=10), [pod("a"), pod("b", "Failed")], 1) == (2, 80)


async def test_requests_are_those_of_the_containers_or_of_the_pod() -> None:
    """A request is that of the named container, of the pod with its own resources, or of all containers."""
    sidecar = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "3"}}}
    own = pod("a", initContainers=[sidecar])
    assert by_cpu(metrics(a=2000), [own], 1) == (1, 50)
    assert resource_replicas(metrics(a=2000), [own], 1, 50, "cpu", "c", TOLERANCES).utilization == 200
    assert by_cpu(metrics(a=2000), [pod("a", resources={"requests": {"cpu": "2"}})], 1) == (2, 100)


@pytest.mark.parametrize(
    ("resource", "container", "values", "message"),
    [
        ("memory", "", {"a": 1}, "missing request for memory in container c of Pod a"),
        ("cpu", "x", {"a": 1}, "container x not found in Pod a"),
        ("cpu", "", {}, "did not receive metrics for targeted pods (pods might be unready)"),
        ("cpu", "", {"z": 1}, "no metrics returned matched known pods"),
    ],
)
async def test_why_no_replicas_follow(resource: str, container: str, values: dict[str, int], message: str) -> None:
    """The error has upstream's text."""
    with pytest.raises(MetricsError) as caught:
        resource_replicas(metrics(**values), [pod("a")], 1, 50, resource, container, TOLERANCES)
    assert str(caught.value) == message


async def test_average_values_of_pods() -> None:
    """Replicas follow the average over the ready pods."""
    pods = [pod("a"), pod("b")]
    assert plain_replicas(metrics(a=30000, b=50000), pods, 2, 10000, TOLERANCES)[:2] == (8, 40000)
    assert plain_replicas(metrics(a=10500, b=10400), pods, 2, 10000, TOLERANCES)[:2] == (2, 10450)
    with pytest.raises(MetricsError, match="no pods returned by selector"):
        plain_replicas(metrics(a=1), [], 2, 10000, TOLERANCES)


async def test_one_value_is_compared_with_the_target_or_divided_among_the_replicas() -> None:
    """A Value scales the ready pods by its ratio to the target, an AverageValue counts for each replica."""
    pods = [pod("a"), pod("b"), pod("c", ready=False)]
    assert ratio_replicas(30000, pods, 3, 10000, TOLERANCES)[:2] == (6, 30000)
    assert ratio_replicas(10500, pods, 3, 10000, TOLERANCES)[:2] == (3, 10500)
    assert per_pod_replicas(30000, 2, 5000, TOLERANCES)[:2] == (6, 15000)
    assert per_pod_replicas(30000, 6, 5000, TOLERANCES)[:2] == (6, 5000)
    assert per_pod_replicas(10000, 0, 5000, TOLERANCES)[:2] == (2, -(2**63))  # no average, as Go converts infinity
