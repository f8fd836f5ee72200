"""A program with a kind of two versions, and its CRDs."""

from __future__ import annotations

from pyctrl import CustomResource, Manager, Model
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.webhook import Conversion, Service, Spoke, Webhooks, WebhookServer, same_fields

SERVICE = Service("jobs-system", "webhooks")


class Spec(Model):
    size: int = 0


class SpecV2(Model):
    size: int = 0
    schedule: str = ""


class Job(CustomResource[Spec], group="installing.pyctrl.test", version="v1"):
    """A job."""


class JobV2(CustomResource[SpecV2], group="installing.pyctrl.test", version="v2", kind="Job"):
    """A job."""


class JobReconciler(Reconciler[Job]):
    """Does nothing."""

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


def to_v2(obj: Job) -> JobV2:
    return same_fields(obj, JobV2)


def to_v1(obj: JobV2) -> Job:
    return same_fields(obj, Job)


CONVERSION = Conversion(JobV2, Spoke(Job, to_hub=to_v2, from_hub=to_v1))


def add_jobs(manager: Manager) -> None:
    webhooks = Webhooks()
    webhooks.add_conversion(CONVERSION)
    manager.add(WebhookServer(webhooks))
    Builder(manager).build(JobReconciler())
