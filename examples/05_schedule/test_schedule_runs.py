"""The runs of the CronJob example: a week of virtual time, policies, deadlines and history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from cronjob.reconciler import CronJobReconciler, due_run
from cronjob.schedule import InvalidSchedule, check, expanded, last_run, next_run
from cronjob.v1 import CronJob
from pyctrl.api import is_controlled_by
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.batch.v1 import Job
from pyctrl.simulation import Explore, World
from schedule_cluster import KEY, Jobs, api_server, change, cron_job, operator, runs, shown

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0
THURSDAY = datetime(2026, 1, 1, tzinfo=UTC)  # the beginning of virtual time


@pytest.fixture
def jobs() -> Jobs:
    """Jobs that take half a minute."""
    return Jobs()


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """An API server with CronJobs."""
    async with api_server() as cluster:
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A client of the API server."""
    async with cluster.client() as client:
        yield client


async def sleep_until(text: str) -> None:
    """Sleep until a day of the month and a time."""
    day, clock = text.split()
    loop, (hour, minute) = asyncio.get_running_loop(), clock.split(":")
    due = (int(day) - 1) * 24 * HOUR + int(hour) * HOUR + int(minute) * 60
    await asyncio.sleep(due - loop.time())


@pytest.mark.slow("3 s: a week of watches, which are renewed every few minutes")
@pytest.mark.virtual_time(limit=timedelta(days=10))
async def test_a_week_of_runs(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A Job starts at each time of the schedule, in the minute that it names, and on no other day."""
    async with operator(cluster, jobs):
        await client.create(cron_job("30 7 * * MON-FRI", successfulJobsHistoryLimit=10))
        await sleep_until("08 07:00")
        times = ["01 07:30", "02 07:30", "05 07:30", "06 07:30", "07 07:30"]
        assert await runs(client) == [(time, time) for time in times]


async def test_a_job_is_that_of_the_template(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A Job has the labels, annotations and pods of the template, and the CronJob is its controller."""
    jobs.duration = timedelta(minutes=5)
    async with operator(cluster, jobs):
        await client.create(cron_job())
        await sleep_until("01 01:01")
        found = await client.get(CronJob, KEY)
        (job,) = await client.list(Job)
        assert is_controlled_by(job, found)
        assert job.metadata.labels == {"app": "hello"}
        assert [each.image for each in job.spec.template.spec.containers] == ["busybox"]
        assert [each.name for each in found.status.active] == [job.metadata.name]
        assert found.status.last_schedule_time == THURSDAY + timedelta(hours=1)
        await sleep_until("01 01:06")
        assert (await client.get(CronJob, KEY)).status.active == []


async def test_of_missed_runs_the_last_one_starts(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """An operator that was down for several runs starts the last one, late, and the next one in time."""
    await client.create(cron_job())
    await sleep_until("01 05:20")
    async with operator(cluster, jobs):
        await sleep_until("01 06:01")
        assert await runs(client) == [("01 05:00", "01 05:20"), ("01 06:00", "01 06:00")]


async def test_a_run_after_its_deadline_is_missed(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A run that is later than startingDeadlineSeconds does not start."""
    await client.create(cron_job(startingDeadlineSeconds=600))
    await sleep_until("01 05:20")
    async with operator(cluster, jobs):
        await sleep_until("01 06:01")
        assert await runs(client) == [("01 06:00", "01 06:00")]


@pytest.mark.parametrize(("seconds_late", "is_due"), [(0, True), (60, True), (61, False)])
def test_the_deadline_includes_its_last_second(seconds_late: int, is_due: bool) -> None:
    """A run may start up to the deadline; a deadline of zero still allows a run that is in time."""
    at = THURSDAY + timedelta(hours=1)
    found = cron_job(startingDeadlineSeconds=60)
    found.metadata.creation_timestamp = THURSDAY
    assert due_run(found, at + timedelta(seconds=seconds_late)) == (at if is_due else None)
    found.spec.starting_deadline_seconds = 0
    assert due_run(found, at) == at


@pytest.mark.parametrize(
    ("policy", "expected", "active"),
    [
        ("Allow", [("01 01:00", "01 01:00"), ("01 02:00", "01 02:00")], 2),
        ("Forbid", [("01 01:00", "01 01:00")], 1),
        ("Replace", [("01 02:00", "01 02:00")], 1),
    ],
)
async def test_a_run_that_is_due_while_a_job_is_active(
    cluster: Cluster, client: Client, jobs: Jobs, policy: str, expected: list[tuple[str, str]], active: int
) -> None:
    """With Allow both Jobs run, with Forbid only the first one, with Replace only the second one."""
    jobs.duration = timedelta(minutes=70)
    async with operator(cluster, jobs):
        await client.create(cron_job(concurrencyPolicy=policy))
        await sleep_until("01 02:05")
        assert await runs(client) == expected
        assert len((await client.get(CronJob, KEY)).status.active) == active


async def test_a_forbidden_run_starts_when_the_active_job_ends(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """With Forbid a run that is due starts as soon as the earlier Job has ended."""
    jobs.duration = timedelta(minutes=70)
    async with operator(cluster, jobs):
        await client.create(cron_job(concurrencyPolicy="Forbid"))
        await sleep_until("01 02:15")
        assert await runs(client) == [("01 01:00", "01 01:00"), ("01 02:00", "01 02:10")]


async def test_the_history_is_limited(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """The newest successful and failed Jobs are kept, as many as the limits say."""
    async with operator(cluster, jobs):
        await client.create(cron_job(successfulJobsHistoryLimit=2, failedJobsHistoryLimit=1))
        await sleep_until("01 04:30")
        assert [run for run, _ in await runs(client)] == ["01 03:00", "01 04:00"]
        jobs.condition = "Failed"
        await sleep_until("01 06:30")
        assert [run for run, _ in await runs(client)] == ["01 03:00", "01 04:00", "01 06:00"]
        await change(client, successfulJobsHistoryLimit=0, failedJobsHistoryLimit=0)
        await asyncio.sleep(1)
        assert await runs(client) == []
        assert shown((await client.get(CronJob, KEY)).status.last_schedule_time) == "01 06:00"


async def test_a_suspended_cron_job_starts_nothing(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A suspended CronJob starts nothing; then the last missed run starts, unless its deadline has passed."""
    async with operator(cluster, jobs):
        await client.create(cron_job(suspend=True))
        await sleep_until("01 03:10")
        assert await runs(client) == []
        await change(client, suspend=False)
        await asyncio.sleep(1)
        assert await runs(client) == [("01 03:00", "01 03:10")]
        await change(client, suspend=True, startingDeadlineSeconds=60)
        await sleep_until("01 05:10")
        await change(client, suspend=False)
        await sleep_until("01 06:10")
        assert [run for run, _ in await runs(client)] == ["01 03:00", "01 06:00"]


async def test_a_run_starts_once(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A run is not repeated: not by a new operator, and not after its Job was deleted."""
    async with operator(cluster, jobs):
        await client.create(cron_job())
        await sleep_until("01 01:00")
        await wait_for(client, CronJob, KEY, lambda found: found.status.last_schedule_time is not None)
    (job,) = await client.list(Job)
    await client.delete(job, propagation="Background")
    async with operator(cluster, jobs):
        await sleep_until("01 01:59")
        assert await runs(client) == []


async def test_an_invalid_schedule_is_not_retried(
    cluster: Cluster, client: Client, jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its webhooks the operator reports an invalid schedule once, and runs it when it is corrected."""
    async with operator(cluster, jobs):
        await client.create(cron_job("61 * * * *"))
        await sleep_until("01 02:30")
        assert [record.levelname for record in caplog.records].count("ERROR") == 1
        assert "Bad minute" in caplog.text
        await change(client, schedule="0 * * * *")
        await sleep_until("01 03:01")
        assert await runs(client) == [("01 02:00", "01 02:30"), ("01 03:00", "01 03:00")]


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("*/15 * * * *", "2026-01-01T10:07:00", "2026-01-01T10:15:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("@hourly", "2026-01-01T10:00:00", "2026-01-01T11:00:00"),
        ("30 7 * * MON-FRI", "2026-01-02T07:30:00", "2026-01-05T07:30:00"),
    ],
)
def test_the_next_run_is_later(schedule: str, after: str, expected: str) -> None:
    """The next run is the first one after a time, and the last run up to that run is that run."""
    found = next_run(schedule, datetime.fromisoformat(after + "+00:00"))
    assert found == datetime.fromisoformat(expected + "+00:00")
    assert last_run(schedule, found) == found
    assert last_run(schedule, found + timedelta(microseconds=1)) == found
    assert last_run(schedule, found - timedelta(microseconds=1)) < found


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("", "expected five fields or a name such as @daily; got 0"),
        ("0 0 0 * * *", "got 6"),
        ("@often", "got 1"),
        ("60 * * * *", "Bad minute"),
        ("0 0 30 2 *", "Bad day-of-month"),
    ],
)
def test_a_text_that_is_no_schedule(schedule: str, message: str) -> None:
    """The error says what is wrong with a schedule."""
    with pytest.raises(InvalidSchedule, match=message):
        check(schedule)


def test_names_are_expanded() -> None:
    """A name becomes its five fields, and blanks are reduced to one."""
    assert expanded(" @daily ") == "0 0 * * *"
    assert expanded("0  0 *\t* *") == "0 0 * * *"


async def one_run(client: Client, world: World) -> None:
    """Create a CronJob, wait for its run, and suspend it; worlds begin at midnight."""
    await client.create(cron_job("30 0 * * *"))
    await world.settle("creates a CronJob")
    await asyncio.sleep(timedelta(minutes=30).total_seconds())
    await world.settle("waits for its run")
    await change(client, suspend=True)


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view or meddling user makes it start a run twice, or none.

    Jumps of the clock are left out: a day that passes for the operator only has a run of its own.
    """
    only = ("crash", "error", "event", "stale", "meddling", "server")
    explore(CronJobReconciler, one_run, only=only, budget=40)
