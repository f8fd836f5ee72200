"""Rings under faults: two replicas never work on one key at once, and in the end each slot has its replica.

Each history has a seed that determines it. `PYCTRL_HISTORIES=10000` runs more histories than the default,
`PYCTRL_HISTORY=1167` runs only that one.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation._sharding import live

DEFAULT = 60  # histories; half a second of CPU each. PYCTRL_HISTORIES=3000 at night
BATCH = 30


def seeds() -> list[range]:
    """Return the seeds to run, in batches."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [range(int(only), int(only) + 1)]
    count = int(os.environ.get("PYCTRL_HISTORIES", DEFAULT))
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.slow(reason="each test is thirty histories, of half a second")
@pytest.mark.timeout(180)
@pytest.mark.real_time  # each history has a virtual time of its own
@pytest.mark.parametrize("batch", seeds(), ids=lambda batch: f"{batch.start}-{batch.stop - 1}")
def test_no_key_has_two_replicas_and_each_has_one_in_the_end(batch: range) -> None:
    """Under cuts, delays, losses, pauses, crashes, joins and stops no key has two replicas; gaps are short."""
    outcomes = [live(seed) for seed in batch]
    assert max(outcome.longest_gap for outcome in outcomes) <= 1
    if len(batch) == BATCH:
        assert sum(outcome.runs for outcome in outcomes) > 100 * BATCH
        assert any(outcome.cancelled for outcome in outcomes)  # hand-overs that are late do cancel
        assert any(outcome.refused for outcome in outcomes)  # the gate refuses writes of replicas that lost a slot


@pytest.mark.real_time
def test_the_same_seed_is_the_same_ring() -> None:
    """A failed history can be reproduced, line by line."""
    assert live(3).trace.lines == live(3).trace.lines
