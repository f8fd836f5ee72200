"""ReplicaSets and ReplicationControllers in virtual time; the tests patch pod status in place of a kubelet."""

from __future__ import annotations

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, wait_for_list
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import (
    ReplicaSet,
    ReplicaSetSpec,
)
from pyctrl.kinds.core.v1 import Pod, ReplicationController, ReplicationControllerSpec
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    template,
    until_pods,
)


async def test_a_replication_controller_keeps_its_pods(client: Client) -> None:
    """A ReplicationController maintains its pods with a plain label selector."""
    spec = ReplicationControllerSpec(replicas=2, selector=LABELS, template=template())
    await client.create(ReplicationController(metadata=ObjectMeta(name="rc", namespace=NAMESPACE), spec=spec))
    one, _ = await until_pods(client, lambda pods: len(pods) == 2)
    await client.delete(one)
    await until_pods(client, lambda pods: len(pods) == 2 and one.key not in {pod.key for pod in pods})
    owners = {ref.kind for pod in await client.list(Pod) for ref in pod.metadata.owner_references}
    assert owners == {"ReplicationController"}
    await wait_for_list(client, ReplicationController, lambda found: found[0].status.replicas == 2)


@pytest.mark.parametrize("replicas", [None, 5])
def test_a_set_that_does_not_say_wants_one_pod(replicas: int | None) -> None:
    """Replicas default to one."""
    assert desired_replicas(ReplicaSet(spec=ReplicaSetSpec(replicas=replicas))) == (5 if replicas else 1)
