"""ReplicaSets and ReplicationControllers in virtual time; the tests patch pod status in place of a kubelet."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import (
    ReplicaSet,
    ReplicaSetSpec,
)
from pyctrl.kinds.core.v1 import Event, Pod, ReplicationController, ReplicationControllerSpec
from tests.unit.cluster._replicasets import WEB, create_set
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    pods_of,
    set_phase,
    template,
    until_pods,
)

_POLICIES = {"apiVersion": "admissionregistration.k8s.io/v1"}
_NEW_PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
REFUSAL = {
    **_POLICIES,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "no-pods"},
    "spec": {"matchConstraints": {"resourceRules": [_NEW_PODS]}, "validations": [{"expression": "false"}]},
}
BINDING = {
    **_POLICIES,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "no-pods"},
    "spec": {"policyName": "no-pods", "validationActions": ["Deny"]},
}


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


@pytest.mark.parametrize(("replicas", "wanted"), [(None, 1), (0, 0), (5, 5)])
def test_a_set_that_does_not_say_wants_one_pod(replicas: int | None, wanted: int) -> None:
    """Replicas default to one."""
    assert desired_replicas(ReplicaSet(spec=ReplicaSetSpec(replicas=replicas))) == wanted


async def test_finished_pods_are_replaced(client: Client) -> None:
    """A pod that has failed is no replica: another one takes its place."""
    await create_set(client, 1)
    (failed,) = await until_pods(client, lambda pods: len(pods) == 1)
    await set_phase(client, failed, "Failed")
    pods = await until_pods(client, lambda pods: len(pods) == 2)
    assert sorted(pod.status.phase or "" for pod in pods) == ["Failed", "Pending"]


async def test_a_set_that_goes_makes_no_pods(client: Client) -> None:
    """A ReplicaSet that is being deleted does not replace a pod."""
    await create_set(client, 1)
    (pod,) = await until_pods(client, lambda pods: len(pods) == 1)
    await client.patch(ReplicaSet, WEB, MergePatch({"metadata": {"finalizers": ["x.io/f"]}}))
    await client.delete(ReplicaSet, WEB, propagation="Orphan")
    await client.delete(pod)
    await asyncio.sleep(60)
    assert await pods_of(client) == []


async def test_the_status_counts_ready_and_available_pods(client: Client) -> None:
    """Only ready pods are ready, and only they are available; the status is of the present generation."""
    await create_set(client, 2)
    one, _ = await until_pods(client, lambda pods: len(pods) == 2)
    await set_phase(client, one, "Running")
    found = await wait_for(client, ReplicaSet, WEB, lambda found: found.status.ready_replicas == 1)
    assert (found.status.replicas, found.status.available_replicas) == (2, 1)
    assert found.status.observed_generation == found.metadata.generation == 1


async def test_a_failure_to_create_is_a_condition_until_it_succeeds(client: Client) -> None:
    """While pods are refused the condition ReplicaFailure says why; it goes once they are created."""
    await client.create(Unstructured(REFUSAL))
    binding = await client.create(Unstructured(BINDING))
    await asyncio.sleep(1)
    await create_set(client, 3)
    failed = await wait_for(client, ReplicaSet, WEB, lambda found: bool(found.status.conditions))
    assert [(each.type, each.reason) for each in failed.status.conditions] == [("ReplicaFailure", "FailedCreate")]
    events = await wait_for_list(client, Event, bool)
    assert [(event.reason, event.count) for event in events] == [("FailedCreate", 1)]  # not three of one reconcile

    await client.delete(binding)
    await until_pods(client, lambda pods: len(pods) == 3, timeout=600)
    await wait_for(client, ReplicaSet, WEB, lambda found: not found.status.conditions)
