"""Validation of cron expressions."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._registry.cron_schedules import schedule_error


@pytest.mark.parametrize(
    "schedule",
    ["* * * * *", "*/5 0-3 1,15 jan-Mar SUN", "@hourly", "@every 1h30m", "TZ=UTC 0 0 * * ?", "5/10 * * * *"],
)
def test_valid_schedules(schedule: str) -> None:
    """A schedule of five fields, or a descriptor, has no error."""
    assert schedule_error(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "error"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("@never", "unrecognized descriptor: @never"),
        ("@every day", 'failed to parse duration @every day: time: invalid duration "day"'),
    ],
)
def test_errors_of_schedules(schedule: str, error: str) -> None:
    """The error of a schedule is that of the library that kube-apiserver uses."""
    assert schedule_error(schedule) == error
