"""Pod failure policies of Jobs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch, wait_until_gone
from pyctrl.cluster._controllers.job.pod_failures import BackoffRecord, remaining_backoff
from pyctrl.kinds.batch.v1 import (
    Job,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)
from pyctrl.kinds.core.v1 import Pod, PodCondition
from tests.unit.cluster._jobs import WORK, active, create, ends, told_of
from tests.unit.cluster._workloads import set_phase


async def test_a_failure_policy_decides_about_failures(client: Client) -> None:
    """A disruption is ignored, and exit code 42 fails the Job with the container in the message."""
    rules = [
        PodFailurePolicyRule(
            action="Ignore",
            on_pod_conditions=[PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget", status="True")],
        ),
        PodFailurePolicyRule(
            action="FailJob",
            on_exit_codes=PodFailurePolicyOnExitCodesRequirement(container_name="c", operator="In", values=[42]),
        ),
    ]
    await create(
        client, completions=2, parallelism=2, backoff_limit=0, pod_failure_policy=PodFailurePolicy(rules=rules)
    )
    first, _ = await active(client, 2)
    await set_phase(client, first, "Failed")  # exit code 1: no rule matches
    assert told_of(await ends(client, "Failed"))[-1] == ("Failed", "BackoffLimitExceeded")
    await client.delete(Job, WORK, propagation="Background")
    await wait_until_gone(client, Job, WORK)
    await create(
        client, completions=2, parallelism=2, backoff_limit=0, pod_failure_policy=PodFailurePolicy(rules=rules)
    )
    disrupted, other = await active(client, 2)
    disruption = PodCondition(type="DisruptionTarget", status="True").to_wire()
    failed = {"phase": "Failed", "conditions": [disruption]}
    await client.status.patch(Pod, disrupted.key, MergePatch({"status": failed}))
    await asyncio.sleep(60)
    assert (await client.get(Job, WORK)).status.failed is None
    await set_phase(client, other, "Failed", exit_code=42)
    job = await ends(client, "Failed")
    name = f"default/{other.metadata.name}"
    message = f"Container c for pod {name} failed with exit code 42 matching FailJob rule at index 1"
    assert [c.message for c in job.status.conditions] == [message, message]


START = datetime(2026, 1, 1, tzinfo=UTC)


def ended(name: str, minutes: int) -> Pod:
    """Make a pod that was deleted a number of minutes after the start."""
    return Pod(metadata=ObjectMeta(name=name, deletion_timestamp=START + timedelta(minutes=minutes)))


def test_a_success_ends_the_backoff_of_earlier_failures() -> None:
    """Only failures after the last success slow the creation of pods."""
    record = BackoffRecord().after([], [ended("a", 1), ended("b", 2)])
    assert record == BackoffRecord(2, START + timedelta(minutes=2))
    assert record.after([], [ended("c", 3)]).failures == 3
    assert record.after([ended("d", 4)], [ended("c", 3)]).failures == 0
    assert record.after([ended("d", 4)], [ended("c", 3), ended("e", 5)]).failures == 1


@pytest.mark.parametrize(("failures", "seconds"), [(0, 0), (1, 10), (2, 20), (6, 320), (7, 600), (2000, 600)])
def test_the_backoff_doubles_up_to_ten_minutes(failures: int, seconds: int) -> None:
    """The backoff begins with 10 s, doubles with each failure, and ends at 10 min after any number of failures."""
    assert remaining_backoff(failures, START, START) == timedelta(seconds=seconds)
