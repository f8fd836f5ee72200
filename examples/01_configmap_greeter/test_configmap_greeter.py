"""The greeter in a cluster, with exactly the permissions that it declares."""

import pytest

import configmap_greeter
from configmap_greeter import Greeting, GreetingReconciler, GreetingSpec
from pyctrl import Builder, Client, Manager, MergePatch, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.simulation import Explore
from pyctrl.testing import InstallKinds, UnderRole


def wire(manager: Manager) -> None:
    """Add the controller, as `pyctrl run` does."""
    Builder(manager).build(GreetingReconciler())


async def test_a_greeting_is_kept_in_a_config_map(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """The ConfigMap has the greeting, follows the spec, and is restored when it is edited or deleted."""
    await install_kinds(configmap_greeter)
    async with under_role(wire) as operator:
        metadata = ObjectMeta(name="hello", namespace=namespace)
        key = (await client.create(Greeting(metadata=metadata, spec=GreetingSpec(name="world")))).key
        await wait_for(client, ConfigMap, key, lambda found: found.data == {"greeting": "Hello, world!"})

        await client.patch(Greeting, key, MergePatch({"spec": {"name": "moon"}}))
        await wait_for(client, ConfigMap, key, lambda found: found.data == {"greeting": "Hello, moon!"})

        await client.patch(ConfigMap, key, MergePatch({"data": {"greeting": "Go away!"}}))
        edited = await wait_for(client, ConfigMap, key, lambda found: found.data == {"greeting": "Hello, moon!"})

        await client.delete(ConfigMap, key)
        await wait_for(client, ConfigMap, key, lambda found: found.metadata.uid != edited.metadata.uid)
        assert operator.compare().lines() == []  # no permission is missing or unused


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view, conflict or meddling user breaks the operator."""
    explore(GreetingReconciler, budget=40)
