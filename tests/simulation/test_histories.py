"""Histories under faults: in the end the cluster is in the desired state and idle, and the cache equals the server.

A history is one run of a user's story with one schedule of faults. Each story has a seed that determines it.
`PYCTRL_HISTORIES=3000` runs more histories than the default, `PYCTRL_HISTORY=7` only those of one story.
docs/simulation.md shows how to do this for your own operator.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from pyctrl.simulation import ExploreOptions, Report, always, eventually, explore_program
from tests.simulation._checks import Findings, knows_its_creates
from tests.simulation._operators import add_operators, options_of, story_of
from tests.simulation._views import check_views

DEFAULT = 100  # histories
OF_A_STORY = 20
FAMILIES = ("crash", "error", "event", "meddling", "random")  # a process that travels in time makes birds again

INVARIANTS = (
    always("a create follows from what the process knows", knows_its_creates),
    eventually("subscribers see valid changes, and no request is reconciled twice at once", lambda w: _found(w) == []),
    eventually("everything is as the user wants it", lambda world: world.external(Findings).user.check(world)),
    eventually("the cache is like the server", check_views),
)


def seeds() -> list[int]:
    """Return the seeds of the stories to run."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [int(only)]
    return list(range(int(os.environ.get("PYCTRL_HISTORIES", DEFAULT)) // OF_A_STORY))


def explore_story(seed: int) -> Report:
    """Try faults in a story, with options of the manager and a network of its own."""
    return explore_program(
        add_operators,
        story_of(seed),
        options=ExploreOptions(runs=OF_A_STORY, seed=seed, only=FAMILIES, replicas=Random(seed).choice((1, 1, 2))),
        invariants=INVARIANTS,
        manager_options=options_of(seed),
    )


@pytest.mark.slow(reason="each test is twenty histories")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", seeds())
def test_the_cluster_converges_and_becomes_idle(seed: int) -> None:
    """The operators converge and become idle, and their caches equal the server; nothing is made twice."""
    report = explore_story(seed)
    if report.stories:
        raise AssertionError(str(report.stories[0]))
    assert len(report.attempts) >= OF_A_STORY


def _found(world: object) -> list[str]:
    return world.external(Findings).found  # type: ignore[attr-defined,no-any-return]
