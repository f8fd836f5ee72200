"""Pods of deleted Jobs."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.client import Client, wait_until_gone
from pyctrl.kinds.batch.v1 import (
    Job,
)
from tests.unit.cluster._jobs import WORK, active, create
from tests.unit.cluster._workloads import until_pods


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
async def test_nothing_is_held_when_a_job_is_deleted(client: Client, propagation: Any) -> None:
    """Pods of a deleted Job lose the tracking finalizer, also as orphans."""
    await create(client, parallelism=2, completions=2)
    await active(client, 2)
    await client.delete(Job, WORK, propagation=propagation)
    await wait_until_gone(client, Job, WORK)
    left = 2 if propagation == "Orphan" else 0
    pods = await until_pods(client, lambda pods: not any(p.metadata.finalizers for p in pods) and len(pods) == left)
    assert not any(pod.metadata.owner_references for pod in pods)
