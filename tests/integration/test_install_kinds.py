"""install_kinds: all versions of a program's kinds, converted by the program, and never reduced."""

from __future__ import annotations

import pytest

from pyctrl import CustomResource, Key, Manager, Model, ObjectMeta
from pyctrl.api import GroupVersionKind
from pyctrl.client import Client
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import CommandFailed
from pyctrl.manifests import definition
from pyctrl.program import definitions, install_definitions
from pyctrl.testing import InstallKinds
from pyctrl.webhook import Conversion, Spoke, Webhooks, WebhookServer

DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
NAME = "cronjobs.kinds.pyctrl.test"


class OldSpec(Model):
    schedule: str = ""


class Schedule(Model):
    minute: str = "*"
    rest: str = ""


class NewSpec(Model):
    schedule: Schedule = Schedule()


class OldCronJob(CustomResource[OldSpec], group="kinds.pyctrl.test", version="v1", kind="CronJob"):
    """The schedule as a string."""


class CronJob(CustomResource[NewSpec], group="kinds.pyctrl.test", version="v2"):
    """The schedule as fields."""


def to_new(old: OldCronJob) -> CronJob:
    minute, _, rest = old.spec.schedule.partition(" ")
    return CronJob(spec=NewSpec(schedule=Schedule(minute=minute, rest=rest)))


def to_old(new: CronJob) -> OldCronJob:
    return OldCronJob(spec=OldSpec(schedule=f"{new.spec.schedule.minute} {new.spec.schedule.rest}"))


class CronJobReconciler(Reconciler[OldCronJob]):
    """Does nothing."""

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


def add_cronjobs(manager: Manager) -> None:
    webhooks = Webhooks()
    webhooks.add_conversion(Conversion(CronJob, Spoke(OldCronJob, to_hub=to_new, from_hub=to_old)))
    manager.add(WebhookServer(webhooks))
    Builder(manager).build(CronJobReconciler())


@pytest.mark.slow(reason="a real API server takes a while until it asks a new conversion webhook")
async def test_versions_are_converted_and_stay(install_kinds: InstallKinds, client: Client, namespace: str) -> None:
    """An object written in v1 is read in v2; installing v1 alone is then refused, and loses nothing."""
    await install_kinds(add_cronjobs)
    key = Key(namespace, "hourly")
    meta = ObjectMeta(name=key.name, namespace=namespace)
    await client.create(OldCronJob(metadata=meta, spec=OldSpec(schedule="0 * * * *")))
    assert (await client.get(CronJob, key)).spec.schedule == Schedule(minute="0", rest="* * * *")
    before = (await client.get(DEFINITION, Key("", NAME)))["spec"]
    with pytest.raises(CommandFailed, match="version v2, in which objects are stored"):
        await install_definitions(client, [definition(OldCronJob)])
    await install_definitions(client, await definitions(add_cronjobs))  # as `run --no-webhooks --install-crds` does
    assert (await client.get(DEFINITION, Key("", NAME)))["spec"] == before
    assert (await client.get(OldCronJob, key)).spec.schedule == "0 * * * *"
    await client.delete(CronJob, key)
