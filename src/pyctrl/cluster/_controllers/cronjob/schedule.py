"""When a CronJob runs: schedules as Kubernetes reads them (github.com/robfig/cron/v3), in a time zone.

The expressions are evaluated by cronsim. Where the two differ it is told the difference: with seconds it leaves out
Debian's treatment of hours that a change of clocks skips or repeats, and a step over all days is no star, so that of
day and weekday either is enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from pyctrl.kinds.batch.v1 import CronJob

__all__ = [
    "MostRecentSchedule",
    "Schedule",
    "ScheduleError",
    "most_recent_schedule_time",
    "parse_schedule",
    "time_until_next_schedule",
]


_NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")
_DAY_FIELDS = {2: "1-31", 4: "0-6"}  # what a star means in the two fields of which either is enough


class ScheduleError(ValueError):
    """Raised when an expression is no schedule."""


class Schedule(Protocol):
    """The times at which something runs."""

    def next(self, after: datetime) -> datetime | None:
        """Return the first time after another, None when there is none."""
        ...


def parse_schedule(text: str, zone: ZoneInfo | None = None) -> Schedule:
    """Read five fields, ``@daily`` and its like, or ``@every 1h30m``; without a zone it is UTC's day that counts.

    Raises:
        ScheduleError: it is none of these.
    """
    if text.startswith("@every "):
        return _Every(_duration(text.removeprefix("@every ")))
    expression = _NAMED.get(text, text)
    fields = expression.split()
    if len(fields) != 5:
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    written = " ".join(["0", *(_field(position, field) for position, field in enumerate(fields))])
    schedule = _Cron(written, zone)
    schedule.check()
    return schedule


def _field(position: int, field: str) -> str:
    parts = field.replace("?", "*").split(",")
    if "*" in parts:
        return "*"
    every = _DAY_FIELDS.get(position)
    return ",".join(re.sub(r"^\*(?=/)", every, part) if every else part for part in parts)


def _duration(text: str) -> timedelta:
    seconds, end = 0.0, 0
    for match in _DURATION.finditer(text):
        if match.start() != end:
            break
        seconds, end = seconds + float(match[1]) * _UNITS[match[2]], match.end()
    if not text or end != len(text):
        raise ScheduleError(f"failed to parse duration @every {text}")
    return timedelta(seconds=max(1, int(seconds)))


@dataclass(frozen=True, slots=True)
class _Every:
    """Again and again after the same time."""

    period: timedelta

    def next(self, after: datetime) -> datetime:
        """Return the whole second that is a period later."""
        return (after + self.period).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class _Cron:
    """An expression, with seconds."""

    expression: str
    zone: ZoneInfo | None

    def check(self) -> None:
        """Raise ScheduleError when a field is wrong."""
        try:
            CronSim(self.expression, datetime(2000, 1, 1, tzinfo=UTC))
        except CronSimError as error:
            raise ScheduleError(str(error)) from error

    def next(self, after: datetime) -> datetime | None:
        """Return the first time that fits, at most some decades away."""
        try:
            return next(CronSim(self.expression, after.astimezone(self.zone or UTC))).astimezone(UTC)
        except (CronSimError, StopIteration):
            return None


MANY_MISSED = 100  # missed runs, of which an event is made
NEXT_SCHEDULE_DELTA = timedelta(
    milliseconds=100
)  # after the time of a run, so that it is surely past (nextScheduleDelta)


@dataclass(frozen=True, slots=True)
class MostRecentSchedule:
    """What has come due since the last run."""

    #: The last time that has passed, None when none has.
    last: datetime | None
    #: Since when runs count.
    since: datetime
    has_missed: bool = False
    has_many_missed: bool = False


def most_recent_schedule_time(
    cron_job: CronJob, schedule: Schedule, now: datetime, *, within_deadline: bool = True
) -> MostRecentSchedule:
    """Return what has come due; with ``within_deadline`` only runs that may still be started count."""
    since = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp or now
    deadline = cron_job.spec.starting_deadline_seconds
    if within_deadline and deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    first = schedule.next(since)
    second = schedule.next(first) if first is not None else None
    if first is None or now < first:
        return MostRecentSchedule(None, since)
    if second is None or now < second:
        return MostRecentSchedule(first, since)
    period = max(1, round((second - first).total_seconds()))
    missed = int((now - first).total_seconds()) // period + 1
    last, start = None, first + timedelta(seconds=(missed - 2) * period)
    while (found := schedule.next(start)) is not None and found <= now:
        last = start = found
    return MostRecentSchedule(last, since, True, missed > MANY_MISSED)


def time_until_next_schedule(cron_job: CronJob, schedule: Schedule, now: datetime) -> timedelta | None:
    """Return the time until the next run, None when there is none."""
    found = most_recent_schedule_time(cron_job, schedule, now, within_deadline=False)
    start = found.last
    if found.has_many_missed:
        start = now
    elif start is None and not found.has_missed:
        start = found.since
    following = schedule.next(start or datetime.min.replace(tzinfo=UTC))
    return None if following is None else following + NEXT_SCHEDULE_DELTA - now
