"""Options of leader election: defaults and invalid times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyctrl.errors import ManagerError
from pyctrl.manager import LeaderElection
from pyctrl.manager._election.candidate import Moment

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(loop: float, *, wall: float | None = None) -> Moment:
    """A moment on both clocks; on the wall clock another one if given."""
    return Moment(loop, START + timedelta(seconds=loop if wall is None else wall))


def test_the_defaults_are_client_gos() -> None:
    """The defaults are 15, 10 and 2 seconds; an election request times out after half the renew deadline."""
    options = LeaderElection(name="op")
    times = (options.lease_duration, options.renew_deadline, options.retry_period, options.request_timeout)
    assert [time.total_seconds() for time in times] == [15, 10, 2, 5]
    assert options.safe_time == timedelta(seconds=14)
    assert options.release_on_stop


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": ""}, "a Lease needs a name"),
        ({"name": "Op"}, "a Lease needs a name"),
        ({"name": "a" * 254}, "a Lease needs a name"),
        ({"identity": ""}, "identity must not be empty"),
        ({"lease_duration": timedelta(seconds=15.5)}, "whole seconds, at least 1, got 15.5 s"),
        ({"lease_duration": timedelta(0)}, "whole seconds"),
        ({"lease_duration": timedelta(seconds=10)}, r"lease_duration > renew_deadline .* got 10 s, 10 s and 2 s"),
        ({"retry_period": timedelta(seconds=9)}, r"renew_deadline > 1.2 x retry_period"),
        ({"retry_period": timedelta(0)}, r"retry_period > 0"),
    ],
)
def test_times_that_do_not_fit_are_refused(options: dict[str, Any], problem: str) -> None:
    """The error has the expected and the actual value."""
    with pytest.raises(ManagerError, match=problem):
        LeaderElection(**{"name": "op"} | options)
