"""Schedules of CronJobs."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from pyctrl.cluster._controllers.cronjob.schedule import ScheduleError, parse_schedule


def following(text: str, after: datetime, number: int, zone: str | None = None) -> list[str]:
    """Return the next times of a schedule, formatted in its zone."""
    found, time = [], after
    schedule = parse_schedule(text, ZoneInfo(zone) if zone else None)
    for _ in range(number):
        time = schedule.next(time) or after
        found.append(time.astimezone(ZoneInfo(zone) if zone else UTC).strftime("%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("*/20 1-2 * * *", ["01-01 01:00", "01-01 01:20", "01-01 01:40", "01-01 02:00"]),
        ("0 0 13 * FRI", ["01-02 00:00", "01-09 00:00", "01-13 00:00", "01-16 00:00"]),  # day or weekday
        ("0 0 */10 * MON", ["01-01 00:00", "01-05 00:00", "01-11 00:00", "01-12 00:00"]),  # a step is not a star
        ("0 0 ? * 1,3", ["01-05 00:00", "01-07 00:00", "01-12 00:00", "01-14 00:00"]),
        ("@hourly", ["01-01 00:00", "01-01 01:00", "01-01 02:00", "01-01 03:00"]),
        ("@every 1h30m", ["01-01 01:29", "01-01 02:59", "01-01 04:29", "01-01 05:59"]),
    ],
)
def test_schedules_mean_what_kubernetes_means(text: str, times: list[str]) -> None:
    """Five fields, named schedules and intervals are evaluated like robfig/cron."""
    assert following(text, datetime(2025, 12, 31, 23, 59, 30, tzinfo=UTC), 4) == times


def test_hours_that_are_skipped_or_come_twice() -> None:
    """A run in the skipped hour of a clock change is dropped; one in the repeated hour runs twice."""
    spring, autumn = datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert following("30 2 * * *", spring, 2, "Europe/Berlin") == ["03-28 02:30", "03-30 02:30"]
    assert following("30 2 * * *", autumn, 3, "Europe/Berlin") == ["10-25 02:30", "10-25 02:30", "10-26 02:30"]


@pytest.mark.parametrize(
    "text", ["", "* * * *", "* * * * * *", "x * * * *", "@every soon", "0 0 32 2 *", "0 0 31 13 *"]
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    """Invalid schedules raise ScheduleError."""
    with pytest.raises(ScheduleError):
        parse_schedule(text)


def test_a_date_that_does_not_exist_is_a_schedule_without_times() -> None:
    """As with robfig/cron, February 31st is accepted and never comes. Nor does a leap day that is eight years away."""
    assert parse_schedule("59 23 31 2 *").next(datetime(2026, 1, 1, tzinfo=UTC)) is None
    leap_days = parse_schedule("0 0 29 2 *")
    assert leap_days.next(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2028, 2, 29, tzinfo=UTC)
    assert leap_days.next(datetime(2097, 1, 1, tzinfo=UTC)) is None
