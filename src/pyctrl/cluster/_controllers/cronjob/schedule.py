"""Schedules of CronJobs: cron expressions as Kubernetes reads them (github.com/robfig/cron/v3), in a time zone.

cronsim evaluates the expressions. They are translated where the two libraries differ. A seconds field turns off
Debian's treatment of the hours that a clock change skips or repeats. A step over all days becomes a range, because
robfig/cron does not treat it as a star: either the day of the month or the weekday suffices.
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
    "CronSchedule",
    "MostRecentSchedule",
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
_DAY_FIELDS = {2: "1-31", 4: "0-6"}  # the ranges of day of month and weekday


class ScheduleError(ValueError):
    """Raised when an expression is not a valid schedule."""


class CronSchedule(Protocol):
    """The schedule times of a CronJob."""

    def next(self, after: datetime) -> datetime | None:
        """Return the first schedule time after a time, or None."""
        ...


def parse_schedule(text: str, zone: ZoneInfo | None = None) -> CronSchedule:
    """Parse five fields, ``@daily`` and its like, or ``@every 1h30m``. Without a zone, times are UTC.

    Raises:
        ScheduleError: the text is none of these.
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
    """CronSchedule with a fixed period."""

    period: timedelta

    def next(self, after: datetime) -> datetime:
        """Return the whole second that is one period later."""
        return (after + self.period).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class _Cron:
    """CronSchedule of a cron expression with a seconds field."""

    expression: str
    zone: ZoneInfo | None

    def check(self) -> None:
        """Check the fields.

        Raises:
            ScheduleError: a field is invalid.
        """
        fields = self.expression.split()
        without_day, without_month = [*fields[:3], "*", *fields[4:]], [*fields[:4], "*", *fields[5:]]
        for each in (without_day, without_month):  # together, cronsim refuses days that no month has
            try:
                CronSim(" ".join(each), datetime(2000, 1, 1, tzinfo=UTC))
            except CronSimError as error:
                raise ScheduleError(str(error)) from error

    def next(self, after: datetime) -> datetime | None:
        """Return the first matching time; None if there is none within five years."""
        start = after.astimezone(self.zone or UTC)
        try:
            found: datetime = next(CronSim(self.expression, start))
        except (CronSimError, StopIteration):
            return None
        return None if found.year > start.year + YEARS else found.astimezone(UTC)


YEARS = 5  # in which robfig/cron searches the next time
MANY_MISSED = 100  # missed runs after which an Event is recorded

#: Added to the requeue time so that the schedule time has passed (nextScheduleDelta).
NEXT_SCHEDULE_DELTA = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True)
class MostRecentSchedule:
    """The runs that are due since the last one."""

    #: The most recent schedule time that has passed, or None.
    last: datetime | None
    #: The earliest time of runs that count.
    since: datetime
    has_missed: bool = False
    has_many_missed: bool = False


def most_recent_schedule_time(
    cron_job: CronJob, schedule: CronSchedule, now: datetime, *, within_deadline: bool = True
) -> MostRecentSchedule:
    """Return the most recent due run; ``within_deadline`` drops those after startingDeadlineSeconds.

    Raises:
        ScheduleError: The schedule has no two times, such as that of February 31st.
    """
    since = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp or now
    deadline = cron_job.spec.starting_deadline_seconds
    if within_deadline and deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    first = schedule.next(since)
    second = schedule.next(first) if first is not None else None
    if first is not None and now < first:
        return MostRecentSchedule(None, since)
    if first is None or second is None:
        raise ScheduleError("time difference between two schedules is less than 1 second")
    if now < second:
        return MostRecentSchedule(first, since)
    period = max(1, round((second - first).total_seconds()))
    missed = int((now - first).total_seconds()) // period + 1
    last, start = None, first + timedelta(seconds=(missed - 2) * period)
    while (found := schedule.next(start)) is not None and found <= now:
        last = start = found
    return MostRecentSchedule(last, since, True, missed > MANY_MISSED)


def time_until_next_schedule(cron_job: CronJob, schedule: CronSchedule, now: datetime) -> timedelta | None:
    """Return the time until the next run, or None."""
    start: datetime | None
    try:
        found = most_recent_schedule_time(cron_job, schedule, now, within_deadline=False)
    except ScheduleError:
        start = now
    else:
        start = now if found.has_many_missed else found.last
        if start is None and not found.has_missed:
            start = found.since
    following = schedule.next(start or datetime.min.replace(tzinfo=UTC))
    return None if following is None else following + NEXT_SCHEDULE_DELTA - now
