"""Status and conditions of a Deployment, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.cluster._controllers.deployment.progress import is_complete
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    events_of,
    key,
    run_all,
    template,
)

WEB = key("web")


REVISION = "deployment.kubernetes.io/revision"


async def create(client: Client, replicas: int, **spec: Any) -> None:
    """Create the Deployment."""
    made = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=LABELS), template=template(), **spec)
    await client.create(Deployment(metadata=ObjectMeta(name=WEB.name, namespace=NAMESPACE), spec=made))


async def progress(client: Client, reason: str) -> Deployment:
    """Wait until the condition Progressing has a reason."""

    def is_told(found: Deployment) -> bool:
        return any(c.type == "Progressing" and c.reason == reason for c in found.status.conditions)

    return await wait_for(client, Deployment, WEB, is_told, timeout=900)


async def rolled_out(client: Client) -> Deployment:
    """Run pods until the rollout is complete."""
    for _ in range(30):
        await asyncio.sleep(1)
        await run_all(client)
        found = await client.get(Deployment, WEB)
        reasons = {condition.reason for condition in found.status.conditions}
        is_seen = found.status.observed_generation == found.metadata.generation
        if is_seen and "NewReplicaSetAvailable" in reasons and found.status.updated_replicas == found.status.replicas:
            break
    return await progress(client, "NewReplicaSetAvailable")


async def test_the_first_status_of_a_rollout(client: Client) -> None:
    """Counts, conditions with messages, and the event match the real controller's."""
    await create(client, 2)
    found = await progress(client, "ReplicaSetUpdated")
    (made,) = await client.list(ReplicaSet)
    status = found.status.to_wire()
    told_conditions = [(c["type"], c["status"], c["reason"], c["message"]) for c in status.pop("conditions")]
    assert status == {
        "observedGeneration": 1,
        "replicas": 2,
        "updatedReplicas": 2,
        "unavailableReplicas": 2,
        "terminatingReplicas": 0,
    }
    name = made.metadata.name
    minimum = "Deployment does not have minimum availability."
    assert told_conditions == [
        ("Available", "False", "MinimumReplicasUnavailable", minimum),
        ("Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.'),
    ]
    assert await events_of(client, "web") == [f"ScalingReplicaSet: Scaled up replica set {name} from 0 to 2 x1"]
    assert made.metadata.annotations == {
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
    }


async def test_the_progress_deadline_is_reported(client: Client) -> None:
    """The condition Progressing is False after progressDeadlineSeconds without progress, and True after progress."""
    await create(client, 1, progress_deadline_seconds=60)
    began = asyncio.get_running_loop().time()
    late = await progress(client, "ProgressDeadlineExceeded")
    assert 60 <= asyncio.get_running_loop().time() - began <= 65
    assert [c.status for c in late.status.conditions if c.type == "Progressing"] == ["False"]
    await rolled_out(client)


@pytest.mark.parametrize(
    ("observed", "updated", "available", "is_done"),
    [(2, 3, 3, True), (1, 3, 3, False), (2, 2, 3, False), (2, 3, 2, False)],
)
def test_a_rollout_is_complete_with_all_pods_of_the_present_generation(
    observed: int, updated: int, available: int, is_done: bool
) -> None:
    """Counts of a status from before the last change say nothing about the rollout."""
    wanted = Deployment(metadata=ObjectMeta(name="web", generation=2), spec=DeploymentSpec(replicas=3))
    status = DeploymentStatus(
        observed_generation=observed, updated_replicas=updated, replicas=3, available_replicas=available
    )

    assert is_complete(wanted, status) is is_done
