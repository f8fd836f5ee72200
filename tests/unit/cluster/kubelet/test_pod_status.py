"""Conditions of pods on simulated nodes, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, StrategicMergePatch
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import conditions, pod, until, until_phase

P = Key("default", "p")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_readiness_gates_are_waited_for(client: Client) -> None:
    """A pod with a gate is ready when somebody has set the gate's condition, which the kubelet leaves alone."""
    await client.create(pod(readinessGates=[{"conditionType": "x.io/gate"}]))
    gated = await until_phase(client, "p", "Running")
    assert conditions(gated)["Ready"] == ("False", "ReadinessGatesNotReady")
    gate = {"status": {"conditions": [{"type": "x.io/gate", "status": "True"}]}}
    await client.status.patch(Pod, P, StrategicMergePatch(gate))
    ready = await until(client, "p", lambda found: conditions(found)["Ready"][0] == "True")
    assert conditions(ready)["x.io/gate"] == ("True", None)
