"""A webhook and an object that its class cannot decode, on any API server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Literal

import pytest

from pyctrl import CustomResource, Manager, Model, ObjectMeta, Unstructured
from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import Invalid, NotFound
from pyctrl.testing import ClusterUnderTest, InstallKinds
from pyctrl.testing._cluster.install_kinds import _served
from pyctrl.webhook import AdmissionRequest, Defaulter, WebhookBuilder, Webhooks, configurations

JOB = GroupVersionKind("undecodable.pyctrl.test", "v1", "Job")
CONFIGURATION = GroupVersionKind("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration")
PATIENCE = 20.0  # seconds until the server calls the webhook; kube-apiserver watches configurations


class Spec(Model):
    policy: Literal["Allow", "Forbid"] = "Allow"
    note: str = ""


class Job(CustomResource[Spec], group="undecodable.pyctrl.test", version="v1"):
    """A job."""


class JobReconciler(Reconciler[Job]):
    """Does nothing."""

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


class JobDefaults(Defaulter[Job]):
    """Fills in the note."""

    def default(self, obj: Job, request: AdmissionRequest) -> None:
        """Fill it in."""
        obj.spec.note = obj.spec.note or "none"


def add_jobs(manager: Manager) -> None:
    Builder(manager).build(JobReconciler())


@pytest.mark.slow(reason="a real API server takes a while until it asks a new webhook")
async def test_a_typo_is_answered_by_the_schema(
    cluster: ClusterUnderTest, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """With a mutating webhook, as without, the 422 names the invalid field and its supported values."""
    await install_kinds(add_jobs)
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(Job).build(JobDefaults())
    async with contextlib.AsyncExitStack() as stack:
        if cluster.webhooks is not None:
            target, authority = cluster.webhooks.serve(webhooks), b""
        else:
            target, authority = await stack.enter_async_context(_served(webhooks))
        (configuration,) = configurations(webhooks, name=f"jobs-{namespace}", target=target, ca_bundle=authority)
        await client.create(Unstructured(configuration))
        try:
            async with asyncio.timeout(PATIENCE):
                while not await is_completed(client, namespace):
                    await asyncio.sleep(0.05)
            typo = Unstructured.new(JOB, name="typo", namespace=namespace, spec={"policy": "Frobid"})
            with pytest.raises(Invalid, match='spec.policy: Unsupported value: "Frobid": supported values: "Allow"'):
                await client.create(typo)
        finally:
            with contextlib.suppress(NotFound):
                await client.delete(CONFIGURATION, Key("", f"jobs-{namespace}"))


async def is_completed(client: Client, namespace: str) -> bool:
    """Return whether the server calls the webhook already."""
    made = await client.create(Job(metadata=ObjectMeta(generate_name="a-", namespace=namespace), spec=Spec()))
    return made.spec.note == "none"
