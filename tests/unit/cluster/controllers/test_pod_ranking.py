"""The order in which surplus pods are deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.cluster._controllers.pod_ranking import DELETION_COST, pods_to_delete
from pyctrl.kinds.apps.v1 import ReplicaSet
from pyctrl.kinds.core.v1 import ContainerStatus, Pod, PodCondition, PodSpec, PodStatus
from tests.unit.cluster._replicasets import WEB, create_set
from tests.unit.cluster._workloads import (
    set_phase,
    until_pods,
)


async def shrink(client: Client, replicas: int) -> list[Pod]:
    """Set the replicas of the ReplicaSet and wait; return the remaining pods."""
    await client.patch(ReplicaSet, WEB, MergePatch({"spec": {"replicas": replicas}}))
    return await until_pods(client, lambda pods: len(pods) == replicas)


async def test_the_least_useful_pods_go_first(client: Client) -> None:
    """Pending pods are deleted first, then unready ones, then those with the lowest deletion cost."""
    await create_set(client, 4)
    waiting, unready, cheap, dear = await until_pods(client, lambda pods: len(pods) == 4)
    for pod, is_ready in ((unready, False), (cheap, True), (dear, True)):
        await set_phase(client, pod, "Running", is_ready=is_ready)
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "10"}}}
    await client.patch(Pod, dear.key, MergePatch(cost))
    for kept in ({unready.key, cheap.key, dear.key}, {cheap.key, dear.key}, {dear.key}):
        assert {pod.key for pod in await shrink(client, len(kept))} == kept
    assert waiting.key not in {pod.key for pod in await client.list(Pod)}


def pod(name: str, *, node: str = "n", cost: str = "0", restarts: int = 0, ready: int = 60, age: int = 60) -> Pod:
    """Make a running pod that is ready and exists since some minutes before now; 0: it is not ready."""
    conditions = [
        PodCondition(type="Ready", status="True", last_transition_time=_clock.now() - timedelta(minutes=ready))
    ]
    statuses = [ContainerStatus(name="c", image="i", image_id="", ready=True, restart_count=restarts)]
    metadata = ObjectMeta(name=name, uid=name, creation_timestamp=_clock.now() - timedelta(minutes=age))
    metadata.annotations = {DELETION_COST: cost}
    status = PodStatus(phase="Running", conditions=conditions if ready else [], container_statuses=statuses)
    return Pod(metadata=metadata, spec=PodSpec(containers=[], node_name=node), status=status)


@pytest.mark.parametrize(
    ("deleted", "kept"),
    [
        ({"node": ""}, {"ready": 0}),
        ({"ready": 0}, {"cost": "-5"}),
        ({"cost": "-5"}, {"node": "crowded"}),
        ({"cost": "1"}, {"cost": "2"}),
        ({"cost": "nonsense"}, {"cost": "1"}),
        ({"node": "crowded"}, {"ready": 1}),
        ({"ready": 1}, {"restarts": 3}),
        ({"restarts": 3}, {"age": 1}),
        ({"age": 1}, {}),
    ],
)
def test_the_first_difference_decides(deleted: dict[str, Any], kept: dict[str, Any]) -> None:
    """No node, not ready, cheap, crowded, newly ready, restarted, young: the first of these that differs decides."""
    worse, better = pod("z", **deleted), pod("a", **kept)
    crowd = [pod("1", node="crowded"), pod("2", node="crowded")]

    assert pods_to_delete([better, worse], [better, worse, *crowd], 1) == [worse]
