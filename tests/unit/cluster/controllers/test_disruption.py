"""PodDisruptionBudgets and evictions in virtual time; the tests patch pod status in place of a kubelet.

The expected results were verified against a kube-apiserver and kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch, evict, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.errors import InternalError, TooManyRequests
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.batch.v1 import Job, JobSpec
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.kinds.policy.v1 import PodDisruptionBudget, PodDisruptionBudgetSpec
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    events_of,
    key,
    pods_of,
    run_all,
    set_phase,
    template,
    until_pods,
)

BUDGET = key("budget")


async def budget(client: Client, *, name: str = BUDGET.name, **spec: Any) -> None:
    """Create a budget for the pods labelled web."""
    selector = LabelSelector(match_labels=LABELS)
    made = PodDisruptionBudgetSpec.from_wire({**PodDisruptionBudgetSpec(selector=selector).to_wire(), **spec})
    await client.create(PodDisruptionBudget(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=made))


async def bare(client: Client, *names: str) -> None:
    """Create pods without a controller, and run them."""
    for name in names:
        spec = template(node_name="somewhere").spec
        await client.create(Pod(metadata=ObjectMeta(name=name, namespace=NAMESPACE, labels=LABELS), spec=spec))
    await run_all(client)


async def allows(client: Client, number: int) -> PodDisruptionBudget:
    """Wait until the budget allows a number of disruptions; return it."""

    def is_so(found: PodDisruptionBudget) -> bool:
        is_seen = found.status.observed_generation == found.metadata.generation
        return is_seen and found.status.disruptions_allowed == number

    return await wait_for(client, PodDisruptionBudget, BUDGET, is_so)


async def test_a_budget_counts_its_pods(client: Client) -> None:
    """Pods above the minimum can be evicted, and the condition reports whether any can."""
    await bare(client, "a", "b", "c")
    await budget(client, minAvailable=2)
    found = await allows(client, 1)
    counts = found.status.current_healthy, found.status.desired_healthy, found.status.expected_pods
    assert counts == (3, 2, 3)
    assert [(c.type, c.status, c.reason, c.message) for c in found.status.conditions] == [
        ("DisruptionAllowed", "True", "SufficientPods", "")
    ]
    await set_phase(client, await client.get(Pod, key("c")), "Running", is_ready=False)
    found = await allows(client, 0)
    assert [(c.status, c.reason) for c in found.status.conditions] == [("False", "InsufficientPods")]


async def test_evictions_are_taken_off_the_budget(client: Client) -> None:
    """One pod is evicted, with the condition DisruptionTarget; the next eviction gets upstream's error."""
    await bare(client, "a", "b", "c")
    await budget(client, minAvailable=2)
    await allows(client, 1)
    await evict(client, key("a"), dry_run=True)
    await evict(client, key("a"))
    gone = await client.get(Pod, key("a"))
    assert gone.metadata.deletion_timestamp is not None
    reasons = [(c.type, c.reason) for c in gone.status.conditions if c.type == "DisruptionTarget"]
    assert reasons == [("DisruptionTarget", "EvictionByEvictionAPI")]
    await wait_for(client, PodDisruptionBudget, BUDGET, lambda found: found.status.current_healthy == 2)
    with pytest.raises(TooManyRequests, match="would violate the pod's disruption budget") as refused:
        await evict(client, key("b"))
    why = "The disruption budget budget needs 2 healthy pods and has 2 currently"
    assert [cause.message for cause in refused.value.causes] == [why]
    await client.delete(Pod, key("a"), grace_period_seconds=0)
    await asyncio.sleep(1)
    with pytest.raises(TooManyRequests):
        await evict(client, key("b"))
    assert len(await pods_of(client)) == 2


async def test_unhealthy_pods_may_be_evicted(client: Client) -> None:
    """A pending pod can always be evicted, an unready one while the others are healthy."""
    await bare(client, "a", "b")
    await client.create(Pod(metadata=ObjectMeta(name="c", namespace=NAMESPACE, labels=LABELS), spec=template().spec))
    await budget(client, minAvailable=2)
    await allows(client, 0)
    await evict(client, key("c"))
    await wait_until_gone(client, Pod, key("c"))
    await bare(client, "d")
    await set_phase(client, await client.get(Pod, key("d")), "Running", is_ready=False)
    await allows(client, 0)
    await evict(client, key("d"))
    assert (await client.get(Pod, key("d"))).metadata.deletion_timestamp is not None


async def test_pods_that_are_not_ready_are_kept_when_others_lack(client: Client) -> None:
    """Below the minimum unready pods are kept too, except with AlwaysAllow."""
    await bare(client, "a", "b")
    await set_phase(client, await client.get(Pod, key("b")), "Running", is_ready=False)
    await budget(client, minAvailable=2)
    await allows(client, 0)
    with pytest.raises(TooManyRequests):
        await evict(client, key("b"))
    allow = {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}
    await client.patch(PodDisruptionBudget, BUDGET, MergePatch(allow))
    await evict(client, key("b"))


async def test_two_budgets_are_one_too_many(client: Client) -> None:
    """An eviction of a pod with two budgets is refused, as upstream."""
    await bare(client, "a")
    await budget(client, minAvailable=0)
    await budget(client, name="another", minAvailable=0)
    await allows(client, 1)
    with pytest.raises(InternalError, match="This pod has more than one PodDisruptionBudget"):
        await evict(client, key("a"))


async def test_without_a_controller_a_new_budget_is_not_known_yet() -> None:
    """Until its status is counted, a budget permits no eviction."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        await bare(client, "a")
        await budget(client, minAvailable=0)
        with pytest.raises(TooManyRequests) as refused:
            await asyncio.wait_for(evict(client, key("a")), 300)
        assert "is still being processed by the server" in refused.value.causes[0].message


@pytest.mark.parametrize(
    ("spec", "wanted"), [({"maxUnavailable": 1}, 3), ({"maxUnavailable": "50%"}, 2), ({"minAvailable": "30%"}, 2)]
)
async def test_shares_are_of_what_the_controller_wants(client: Client, spec: dict[str, Any], wanted: int) -> None:
    """Percentages refer to the Deployment's replicas, not to existing pods, and are rounded up."""
    selector = LabelSelector(match_labels=LABELS)
    made = DeploymentSpec(replicas=4, selector=selector, template=template())
    await client.create(Deployment(metadata=ObjectMeta(name="web", namespace=NAMESPACE), spec=made))
    pods = await until_pods(client, lambda pods: len(pods) == 4)
    await budget(client, **spec)
    for pod in pods[:3]:
        await set_phase(client, pod, "Running")
    found = await allows(client, max(0, 3 - wanted))
    assert (found.status.expected_pods, found.status.desired_healthy) == (4, wanted)


async def test_an_unknown_scale_allows_no_disruptions(client: Client) -> None:
    """A Job has no scale, so a percentage of it fails: condition and event report it."""
    made = template(restart_policy="Never")
    await client.create(Job(metadata=ObjectMeta(name="job", namespace=NAMESPACE), spec=JobSpec(template=made)))
    await until_pods(client, lambda pods: len(pods) == 1)
    await budget(client, maxUnavailable=1)
    found = await wait_for(client, PodDisruptionBudget, BUDGET, lambda found: bool(found.status.conditions))
    message = "jobs.batch does not implement the scale subresource"
    assert [(c.status, c.reason, c.message) for c in found.status.conditions] == [("False", "SyncFailed", message)]
    event = f"CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: {message} x1"
    assert event in await events_of(client, "budget")
