"""Schedules of five fields, in UTC: functions of a text and a time. cronsim evaluates the fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from pyctrl import TerminalError

__all__ = ["InvalidSchedule", "check", "expanded", "last_run", "next_run"]

NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


class InvalidSchedule(TerminalError, ValueError):
    """Raised when a text is not a schedule. A retry cannot help."""


def expanded(schedule: str) -> str:
    """Return a schedule in its stored form: a name as its five fields, and fields with one blank between them."""
    schedule = " ".join(schedule.split())
    return NAMES.get(schedule, schedule)


def check(schedule: str) -> None:
    """Check that a text is a schedule that has runs.

    Raises:
        InvalidSchedule: it is not; the message says why.
    """
    next_run(schedule, datetime(2000, 1, 1, tzinfo=UTC))


def next_run(schedule: str, after: datetime) -> datetime:
    """Return the first scheduled time after a time. Raises InvalidSchedule."""
    return _step(schedule, after, reverse=False)


def last_run(schedule: str, until: datetime) -> datetime:
    """Return the last scheduled time up to and including a time. Raises InvalidSchedule."""
    return _step(schedule, until.replace(microsecond=0) + timedelta(seconds=1), reverse=True)


def _step(schedule: str, start: datetime, *, reverse: bool) -> datetime:
    fields = expanded(schedule).split()
    if len(fields) != 5:
        raise InvalidSchedule(f"expected five fields or a name such as @daily; got {len(fields)}")
    try:
        found = next(CronSim(" ".join(fields), start, reverse=reverse), None)
    except CronSimError as error:
        raise InvalidSchedule(str(error)) from error
    if found is None:
        raise InvalidSchedule("it never comes")
    return found
