"""Rings whose caches have their own objects only, under faults: nothing that exists is missed, and nothing made twice.

Each history has a seed that determines it. `PYCTRL_HISTORIES=1000` runs more histories than the default,
`PYCTRL_HISTORY=17` runs only that one.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation._shard_memory import live_with_memory

DEFAULT = 20  # histories; one to two seconds of CPU each. PYCTRL_HISTORIES=1000 at night
BATCH = 10


def seeds() -> list[range]:
    """Return the seeds to run, in batches."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [range(int(only), int(only) + 1)]
    count = int(os.environ.get("PYCTRL_HISTORIES", DEFAULT))
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.slow(reason="each test is ten histories, of one to two seconds")
@pytest.mark.timeout(180)
@pytest.mark.real_time  # each history has a virtual time of its own
@pytest.mark.parametrize("batch", seeds(), ids=lambda batch: f"{batch.start}-{batch.stop - 1}")
def test_partial_caches_miss_nothing_of_their_owners(batch: range) -> None:
    """No key has two replicas, each child is found and made once, and in the end each replica has its children only.

    In every other history replicas select their objects by label.
    """
    outcomes = [live_with_memory(seed, memory="label" if seed % 2 else True) for seed in batch]
    if len(batch) == BATCH:
        assert sum(outcome.runs for outcome in outcomes) > 10 * BATCH
        assert sum(outcome.live_reads for outcome in outcomes) > BATCH / 2  # some objects had to be asked for
        assert min(outcome.share for outcome in outcomes if outcome.share) < 0.8  # memory is divided
