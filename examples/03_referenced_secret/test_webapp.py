"""WebApps and their Secrets in a cluster, with exactly the permissions that the operator declares, in virtual time."""

import asyncio

import pytest

import webapp
from pyctrl import Builder, Client, Manager, MergePatch, ObjectMeta
from pyctrl.api import find_condition
from pyctrl.client import wait_for
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Secret
from pyctrl.simulation import Explore
from pyctrl.testing import InstallKinds, UnderRole
from webapp import WebApp, WebAppReconciler, WebAppSpec


def wire(manager: Manager) -> None:
    """Add the controller, as `pyctrl run` does."""
    Builder(manager).build(WebAppReconciler())


def reason_of(app: WebApp) -> str:
    """Return the reason of the condition Ready."""
    ready = find_condition(app.status.conditions, "Ready")
    return ready.reason if ready is not None else ""


def checksum_of(deployment: Deployment) -> str:
    """Return the checksum in the pod template."""
    return deployment.spec.template.metadata.annotations["example.com/checksum"]


@pytest.mark.virtual_time(outside="skip")
async def test_pods_follow_the_content_of_the_secret(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """A WebApp waits for its Secret, and a change of the Secret's content changes the pod template."""
    await install_kinds(webapp)
    async with under_role(wire) as operator:
        spec = WebAppSpec(image="nginx", secret_name="database")
        key = (await client.create(WebApp(metadata=ObjectMeta(name="shop", namespace=namespace), spec=spec))).key
        await wait_for(client, WebApp, key, lambda app: reason_of(app) == "NoSecret")
        assert await client.find(Deployment, key) is None

        metadata = ObjectMeta(name="database", namespace=namespace)
        secret = await client.create(Secret(metadata=metadata, string_data={"PASSWORD": "old"}))
        await wait_for(client, WebApp, key, lambda app: reason_of(app) == "Applied")
        before = checksum_of(await client.get(Deployment, key))

        await client.patch(secret, MergePatch({"metadata": {"labels": {"tier": "db"}}}))  # no new content
        await asyncio.sleep(1)
        assert checksum_of(await client.get(Deployment, key)) == before
        await client.patch(secret, MergePatch({"stringData": {"PASSWORD": "new"}}))
        await wait_for(client, Deployment, key, lambda found: checksum_of(found) != before)

        await client.delete(secret)
        await wait_for(client, WebApp, key, lambda app: reason_of(app) == "NoSecret")
        assert await client.find(Deployment, key) is not None  # what runs is kept
        assert operator.compare().lines() == []  # no permission is missing or unused


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view, conflict or meddling user breaks the operator."""
    explore(WebAppReconciler, budget=40)
