"""Missing dependencies of pods, in virtual time."""

from __future__ import annotations

from pyctrl.client import Client
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cluster._pods import pod, reasons, until, until_phase, waits


async def test_configuration_that_is_missing_is_waited_for(client: Client) -> None:
    """A pod with a missing ConfigMap waits with a reason, and starts when it exists."""
    env = [{"configMapRef": {"name": "settings"}}]
    await client.create(pod(containers=[{"name": "c", "image": "i", "envFrom": env}]))
    await client.create(pod("mounts", volumes=[{"name": "v", "configMap": {"name": "settings"}}]))
    await until(client, "p", lambda found: waits(found) == ["CreateContainerConfigError"])
    await until(client, "mounts", lambda found: waits(found) == ["ContainerCreating"])
    assert "FailedMount" in await reasons(client, "mounts")
    await client.create(ConfigMap.from_wire({"metadata": {"name": "settings", "namespace": "default"}}))
    await until_phase(client, "p", "Running")
    await until_phase(client, "mounts", "Running")
