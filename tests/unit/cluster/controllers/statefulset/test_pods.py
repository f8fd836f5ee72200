"""Identity of the pods of a StatefulSet."""

from __future__ import annotations

from pyctrl.client import Client, MergePatch
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._statefulsets import settled, stateful_set
from tests.unit.cluster._workloads import (
    events_of,
    key,
    until_pods,
)


async def test_labels_that_name_the_pod_are_put_back(client: Client) -> None:
    """A removed identity label of a pod is added again."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    lost = {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}}
    await client.patch(Pod, key("db-0"), MergePatch(lost))
    await until_pods(client, lambda pods: "statefulset.kubernetes.io/pod-name" in pods[0].metadata.labels)
    assert (await events_of(client, "db"))[-1] == "SuccessfulUpdate: Update Pod db-0 in StatefulSet db successful x1"
