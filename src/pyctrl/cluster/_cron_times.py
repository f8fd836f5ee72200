"""Which run of a CronJob is due, and when the next one is. No I/O.

The rules are those of kube-controller-manager's cronjob controller (pkg/controller/cronjob/utils.go): of the runs that
were missed only the last one is made up for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyctrl.cluster._schedules import Schedule
from pyctrl.kinds.batch.v1 import CronJob

__all__ = ["Due", "due", "until_next"]

MANY = 100  # missed runs, of which an event is made
DELTA = timedelta(milliseconds=100)  # after the time of a run, so that it is surely past (nextScheduleDelta)


@dataclass(frozen=True, slots=True)
class Due:
    """What has come due since the last run."""

    #: The last time that has passed, None when none has.
    last: datetime | None
    #: Since when runs count.
    since: datetime
    has_missed: bool = False
    has_missed_many: bool = False


def due(cron_job: CronJob, schedule: Schedule, now: datetime, *, within_deadline: bool = True) -> Due:
    """Return what has come due; with ``within_deadline`` only runs that may still be started count."""
    since = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp or now
    deadline = cron_job.spec.starting_deadline_seconds
    if within_deadline and deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    first = schedule.next(since)
    second = schedule.next(first) if first is not None else None
    if first is None or now < first:
        return Due(None, since)
    if second is None or now < second:
        return Due(first, since)
    period = max(1, round((second - first).total_seconds()))
    missed = int((now - first).total_seconds()) // period + 1
    last, start = None, first + timedelta(seconds=(missed - 2) * period)
    while (found := schedule.next(start)) is not None and found <= now:
        last = start = found
    return Due(last, since, True, missed > MANY)


def until_next(cron_job: CronJob, schedule: Schedule, now: datetime) -> timedelta | None:
    """Return the time until the next run, None when there is none."""
    found = due(cron_job, schedule, now, within_deadline=False)
    start = found.last
    if found.has_missed_many:
        start = now
    elif start is None and not found.has_missed:
        start = found.since
    following = schedule.next(start or datetime.min.replace(tzinfo=UTC))
    return None if following is None else following + DELTA - now
