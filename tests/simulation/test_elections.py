"""Elections under faults: two replicas never act at the same time, and in the end one leads.

Each history has a seed that determines it. `PYCTRL_HISTORIES=10000` runs more histories than the default,
`PYCTRL_HISTORY=1167` runs only that one.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation._election import live

DEFAULT = 200  # histories; 0.06 s of CPU each. PYCTRL_HISTORIES=3000 at night
BATCH = 100


def seeds() -> list[range]:
    """Return the seeds to run, in batches."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [range(int(only), int(only) + 1)]
    count = int(os.environ.get("PYCTRL_HISTORIES", DEFAULT))
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.slow(reason="each test is a hundred histories, of 0.06 s")
@pytest.mark.timeout(120)
@pytest.mark.real_time  # each history has a virtual time of its own
@pytest.mark.parametrize("batch", seeds(), ids=lambda batch: f"{batch.start}-{batch.stop - 1}")
def test_never_two_leaders_and_one_in_the_end(batch: range) -> None:
    """Under partitions, delays, losses, pauses, crashes, restarts and deleted leases no two replicas act at once."""
    outcomes = [live(seed) for seed in batch]
    if len(batch) == BATCH:
        assert sum(outcome.terms for outcome in outcomes) > 1.5 * BATCH  # leadership does change
        assert any(outcome.refused for outcome in outcomes)  # the fence refuses writes of former leaders


@pytest.mark.real_time
def test_the_same_seed_is_the_same_election() -> None:
    """A failed history can be reproduced, line by line."""
    for seed in (3, 37):
        assert live(seed).trace.lines == live(seed).trace.lines
