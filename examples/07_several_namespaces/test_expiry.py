"""The operator with permissions in two namespaces, in virtual time."""

import asyncio

import pytest

from expiry import ANNOTATION, ExpiryReconciler
from pyctrl import Builder, Client, Manager, MergePatch, ObjectMeta
from pyctrl.client import wait_until_gone
from pyctrl.errors import NotCovered
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from pyctrl.simulation import Explore
from pyctrl.testing import UnderRole


def wire(manager: Manager) -> None:
    """Add the controller, as `pyctrl run` does."""
    Builder(manager).build(ExpiryReconciler())


def preview(namespace: str, expires_after: str) -> ConfigMap:
    """Return a ConfigMap that expires."""
    return ConfigMap(metadata=ObjectMeta(name="preview", namespace=namespace, annotations={ANNOTATION: expires_after}))


@pytest.mark.virtual_time(outside="skip")
async def test_only_watched_namespaces_are_cleaned_up(under_role: UnderRole, client: Client, namespace: str) -> None:
    """A ConfigMap is deleted after its time in the watched namespaces, and kept in others."""
    other = (await client.create(Namespace(metadata=ObjectMeta(generate_name="other-")))).metadata.name
    async with under_role(wire, namespaces=[namespace]) as operator:
        kept = await client.create(preview(other, "10m"))
        gone = await client.create(preview(namespace, "10m"))
        await asyncio.sleep(590)
        assert await client.find(ConfigMap, gone.key) is not None
        await wait_until_gone(client, ConfigMap, gone.key, timeout=20)
        await asyncio.sleep(60)
        assert await client.find(ConfigMap, kept.key) is not None
        assert {access.namespace for access in operator.granted.accesses()} == {namespace}  # no ClusterRole
        with pytest.raises(NotCovered):  # a read elsewhere is an error: it never seems to find nothing
            await operator.manager.client.find(ConfigMap, kept.key)
        assert operator.compare().lines() == []  # no permission is missing or unused


async def previews(client: Client) -> None:
    """Create a ConfigMap that expires in the time of the simulation, one that does not, and change that."""
    await client.create(preview("default", "2m"))
    kept = await client.create(ConfigMap(metadata=ObjectMeta(name="kept", namespace="default")))
    await client.patch(kept, MergePatch({"metadata": {"annotations": {ANNOTATION: "5m"}}}))


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view or jump of the clock keeps what has expired, or deletes anything else."""
    explore(ExpiryReconciler, previews, budget=40, manager_options={"namespaces": ["default"]})
