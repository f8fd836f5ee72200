"""Websites in a cluster, in virtual time: the ten minutes of a rollout that is stuck take none."""

import pytest

import website
from pyctrl import Builder, Client, Key, Manager, MergePatch, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.simulation import Explore
from pyctrl.testing import InstallKinds, UnderRole
from website import Website, WebsiteReconciler, WebsiteSpec

BROKEN = {"spec": {"template": {"metadata": {"annotations": {"pyctrl.dev/pull-error": "no such image"}}}}}


def wire(manager: Manager) -> None:
    """Add the controller, as `pyctrl run` does."""
    Builder(manager).build(WebsiteReconciler())


def states(found: Website) -> dict[str, str]:
    """Return the statuses of the conditions by type."""
    return {each.type: each.status for each in found.status.conditions}


async def has_come_to(client: Client, key: Key, available: str, progressing: str, degraded: str) -> Website:
    """Wait until a Website has these conditions, for up to an hour."""
    wanted = {"Available": available, "Progressing": progressing, "Degraded": degraded}
    return await wait_for(client, Website, key, lambda found: states(found) == wanted, timeout=3600)


@pytest.mark.virtual_time(outside="skip")
async def test_the_conditions_follow_the_rollout(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """A Website becomes available; a rollout that does not advance makes it degraded, while old pods serve."""
    await install_kinds(website)
    async with under_role(wire) as operator:
        metadata = ObjectMeta(name="shop", namespace=namespace)
        key = (await client.create(Website(metadata=metadata, spec=WebsiteSpec(image="nginx", replicas=2)))).key
        await has_come_to(client, key, "True", "False", "False")

        await client.patch(Deployment, key, MergePatch(BROKEN))
        await has_come_to(client, key, "True", "True", "False")
        stuck = await has_come_to(client, key, "True", "False", "True")
        assert {each.reason for each in stuck.status.conditions} == {"Stuck"}

        await client.patch(Website, key, MergePatch({"spec": {"replicas": 0}}))
        idle = await has_come_to(client, key, "False", "False", "False")
        assert idle.status.observed_generation == idle.metadata.generation
        assert operator.compare().lines() == []  # no permission is missing or unused


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view, conflict or meddling user breaks the operator."""
    explore(WebsiteReconciler, budget=40)
