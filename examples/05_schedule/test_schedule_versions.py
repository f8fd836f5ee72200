"""The CronJob example with its webhooks, conversion and permissions, as `pyctrl dev` runs it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cronjob
from cronjob import v1, v2
from cronjob.conversion import CONVERSION
from cronjob.reconciler import CronJobReconciler
from cronjob.webhooks import CronJobWebhook
from pyctrl.api import Key
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder
from pyctrl.dev import DevOptions, DevSession
from pyctrl.errors import ConversionFailed, Invalid
from pyctrl.manager import Manager
from pyctrl.program import Target
from pyctrl.testing import InstallKinds, UnderRole, admission_request, sample_of
from pyctrl.webhook import check_round_trip
from schedule_cluster import KEY, cron_job

EXAMPLE = Path(__file__).parent

pytestmark = pytest.mark.virtual_time

FIELDS = st.sampled_from(["*", "*/2", "1", "1-3", "1,2"])
SPECS = st.fixed_dictionaries(
    {
        "schedule": st.tuples(*[FIELDS] * 5).map(" ".join),
        "suspend": st.booleans(),
        "concurrencyPolicy": st.sampled_from(["Allow", "Forbid", "Replace"]),
    },
    optional={
        "startingDeadlineSeconds": st.integers(0, 10**6),
        "successfulJobsHistoryLimit": st.integers(0, 100),
        "failedJobsHistoryLimit": st.integers(0, 100),
    },
)


@asynccontextmanager
async def session() -> AsyncIterator[Client]:
    """The example as `pyctrl dev` runs it: kinds, webhooks, conversion and samples; no nodes."""
    options = DevOptions(controllers=False, kubelet=False)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "cronjob"}
    try:
        async with DevSession(Target.parse(str(EXAMPLE)), options) as session:
            assert session.problem == ""
            yield session.admin
    finally:
        sys.modules.update(before)  # a session imports its program again


@given(SPECS)
def test_a_conversion_loses_nothing(spec: dict[str, object]) -> None:
    """A CronJob that is converted to the other version and back is what it was."""
    obj = cron_job(**spec)  # type: ignore[arg-type]  # of JSON
    check_round_trip(CONVERSION, obj)
    check_round_trip(CONVERSION, v2.CronJob.from_wire(CONVERSION.convert(obj.to_wire(), "v2")))


def test_the_samples_are_converted() -> None:
    """The schedule of the samples is a text in v1, and has a field for each part in v2."""
    old = CONVERSION.convert(sample_of(v2.CronJob).to_wire(), "v1")
    assert old["spec"]["schedule"] == "30 7 * * MON-FRI"
    new = CONVERSION.convert(cron_job("@daily").to_wire(), "v2")
    assert v2.CronJob.from_wire(new).spec.schedule == v2.CronSchedule(minute="0", hour="0")


def test_a_schedule_without_five_fields_is_not_converted() -> None:
    """The error of the conversion has the schedule, for an object that was stored without the webhooks."""
    with pytest.raises(ConversionFailed, match=r"spec\.schedule 'often' has 1 fields; v2 needs five"):
        CONVERSION.convert(cron_job("often").to_wire(), "v2")


async def test_a_user_of_each_version_sees_all_objects() -> None:
    """Objects that are created in one version are read and patched in the other one."""
    async with session() as client:
        report, hello = Key("default", "report"), Key("default", "hello")  # the samples
        assert (await client.get(v1.CronJob, report)).spec.schedule == "30 7 * * MON-FRI"
        assert (await client.get(v2.CronJob, hello)).spec.schedule == v2.CronSchedule(minute="*/1")
        changed = await client.patch(v2.CronJob, hello, MergePatch({"spec": {"schedule": {"hour": "8"}}}))
        assert changed.spec.schedule.hour == "8"
        assert (await client.get(v1.CronJob, hello)).spec.schedule == "*/1 8 * * *"


async def test_an_object_is_completed() -> None:
    """The webhook expands names of schedules, and sets the restart policy that a Job must have, in each version."""
    async with session() as client:
        wanted = cron_job("@weekly")
        wanted.metadata.name = "weekly"
        wanted.spec.job_template.spec.template.spec.restart_policy = None
        made = await client.create(wanted)
        assert made.spec.schedule == "0 0 * * 0"
        assert made.spec.job_template.spec.template.spec.restart_policy == "OnFailure"
        report = await client.get(v2.CronJob, Key("default", "report"))
        assert report.spec.job_template.spec.template.spec.restart_policy == "OnFailure"


async def test_an_invalid_object_is_rejected() -> None:
    """A schedule that is invalid is rejected in each version, on updates too, and so is a name that is too long."""
    async with session() as client:
        old = cron_job("61 * * * *")
        old.metadata.name = "wrong"
        new = v2.CronJob.from_wire(CONVERSION.convert(old.to_wire(), "v2"))
        for wrong in (old, new):
            with pytest.raises(Invalid, match=r'spec\.schedule: Invalid value: "61 \* \* \* \*": Bad minute'):
                await client.create(wrong)
        with pytest.raises(Invalid, match="expected five fields or a name such as @daily; got 1"):
            await client.patch(v1.CronJob, KEY, MergePatch({"spec": {"schedule": "often"}}))
        old.metadata.name = "a" * 53
        with pytest.raises(Invalid, match=r"metadata\.name: Too long: may not be more than 52 bytes"):
            await client.create(old)


def test_an_object_with_an_invalid_schedule_stays_editable() -> None:
    """An update that leaves an invalid schedule alone is accepted: finalizers must be removable."""
    old, new = cron_job("61 * * * *"), cron_job("61 * * * *", suspend=True)
    CronJobWebhook().validate_update(old, new, admission_request(new, old=old))


async def test_the_permissions_suffice(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str, running_pods: None
) -> None:
    """The operator needs exactly the permissions that it declares, on a cluster that runs pods."""

    def add_cronjob(manager: Manager) -> None:
        Builder(manager).build(CronJobReconciler())

    await install_kinds(cronjob)
    async with under_role(add_cronjob, namespaces=[namespace]) as operator:
        wanted = cron_job("* * * * *", successfulJobsHistoryLimit=0)
        wanted.metadata.namespace = namespace
        await client.create(wanted)
        await asyncio.sleep(130)
        assert operator.compare().lines() == []
