"""Options of sharding: defaults, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pyctrl.controller import ShardBy
from pyctrl.errors import ManagerError
from pyctrl.manager import OnLoss, Sharding
from pyctrl.manager._sharding.options import election_of


def test_the_defaults_are_those_of_leader_election() -> None:
    """The times are client-go's 15, 10 and 2 seconds; requests are divided by uid, and the Lease is released."""
    options = Sharding(name="op")

    assert (options.lease_duration, options.renew_deadline, options.retry_period) == (
        timedelta(seconds=15),
        timedelta(seconds=10),
        timedelta(seconds=2),
    )
    assert (options.key, options.weight, options.canary, options.release_on_stop) == (ShardBy.UID, 1.0, 1.0, True)
    assert options.times().safe_time == timedelta(seconds=14)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": ""}, "needs a name such as 'podset-operator' of at most 63 characters, got ''"),
        ({"name": "Op"}, "needs a name"),
        ({"name": "-op"}, "needs a name"),
        ({"name": "op."}, "needs a name"),
        ({"name": "a" * 64}, "at most 63 characters"),
        ({"weight": 0}, "weight must be above 0 and below 1,000,000, got 0"),
        ({"weight": -1.0}, "weight must be above 0"),
        ({"weight": 1e6}, "below 1,000,000"),
        ({"weight": float("nan")}, "got nan"),
        ({"canary": -0.1, "version": "2"}, "canary is a share from 0 to 1, got -0.1"),
        ({"canary": 1.1, "version": "2"}, "canary is a share from 0 to 1, got 1.1"),
        ({"canary": 0.1}, "a canary needs version="),
        ({"promote_after": timedelta(seconds=1)}, "promote_after needs a canary"),
        ({"memory": "all"}, "memory is True, False or \"label\", got 'all'"),
        ({"memory": True, "key": ShardBy.NAMESPACE}, "memory=True needs key=ShardBy.UID"),
        ({"memory": "label", "key": ShardBy.CLUSTER}, "needs key=ShardBy.UID"),
        ({"handover_timeout": timedelta(seconds=-1)}, "handover_timeout must not be negative"),
        ({"identity": ""}, "identity must not be empty"),
        ({"lease_duration": timedelta(seconds=15.5)}, "whole seconds, at least 1, got 15.5 s"),
        ({"renew_deadline": timedelta(seconds=15)}, "lease_duration > renew_deadline"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], problem: str) -> None:
    """The error has the expected and the actual value."""
    with pytest.raises(ManagerError, match=problem):
        Sharding(**{"name": "op"} | options)


@pytest.mark.parametrize(
    "options",
    [
        {"name": "a" * 63},
        {"name": "op.example.com"},
        {"name": "0"},
        {"weight": 1e-9},
        {"canary": 0.0, "version": "2"},
        {"handover_timeout": timedelta(0)},
    ],
)
def test_the_limits_are_accepted(options: dict[str, Any]) -> None:
    """The longest name, the smallest weight and the empty canary are valid."""
    assert Sharding(**{"name": "op"} | options).name


def test_the_leader_of_a_ring_has_the_times_of_the_ring() -> None:
    """Elections among replicas of a ring have its name, times and labels, and a replica that loses contends again."""
    seconds = timedelta(seconds=1)
    election = election_of(
        Sharding(
            name="op",
            namespace="system",
            lease_duration=30 * seconds,
            renew_deadline=20 * seconds,
            retry_period=5 * seconds,
            release_on_stop=False,
            labels={"team": "red"},
        )
    )

    assert (election.name, election.namespace, election.labels) == ("op", "system", {"team": "red"})
    assert (election.lease_duration, election.renew_deadline, election.retry_period) == (
        30 * seconds,
        20 * seconds,
        5 * seconds,
    )
    assert (election.on_loss, election.release_on_stop) == (OnLoss.CONTEND, False)
