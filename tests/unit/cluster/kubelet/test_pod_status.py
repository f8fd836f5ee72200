"""Conditions of pods on simulated nodes, in virtual time."""

from __future__ import annotations

from pyctrl.api import Key
from pyctrl.client import Client, StrategicMergePatch
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import conditions, pod, until, until_phase

P = Key("default", "p")


async def test_readiness_gates_are_waited_for(client: Client) -> None:
    """A pod is ready only when its gate's condition is True, which the kubelet does not change."""
    await client.create(pod(readinessGates=[{"conditionType": "x.io/gate"}]))
    gated = await until_phase(client, "p", "Running")
    assert conditions(gated)["Ready"] == ("False", "ReadinessGatesNotReady")
    gate = {"status": {"conditions": [{"type": "x.io/gate", "status": "True"}]}}
    await client.status.patch(Pod, P, StrategicMergePatch(gate))
    ready = await until(client, "p", lambda found: conditions(found)["Ready"][0] == "True")
    assert conditions(ready)["x.io/gate"] == ("True", None)
