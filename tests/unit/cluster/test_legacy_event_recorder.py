"""Events of the embedded controllers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.client import Client
from pyctrl.cluster import Cluster
from tests.unit.cluster._replicasets import create_set
from tests.unit.cluster._workloads import (
    events_of,
    until_pods,
)


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster without a kubelet."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        yield client


async def test_many_events_of_one_kind_are_combined(client: Client) -> None:
    """Nine similar events are recorded one by one, further ones are combined."""
    await create_set(client, 14)
    await until_pods(client, lambda pods: len(pods) == 14)
    events = await events_of(client, "web")
    assert len(events) == 10
    assert events[-1].startswith("SuccessfulCreate: (combined from similar events): Created pod: ")
    assert events[-1].endswith(" x5")
