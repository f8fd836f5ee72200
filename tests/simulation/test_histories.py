"""Histories under faults: in the end the cluster is in the desired state and idle.

Each history has a seed that determines it. `PYCTRL_HISTORIES=3000` runs more histories than the default,
`PYCTRL_HISTORY=1167` runs only that one. docs/testing.md shows how to do this for your own operator.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation._history import HistoryFailed, live

DEFAULT = 30  # histories; about a second of CPU each
BATCH = 5


def seeds() -> list[range]:
    """Return the seeds to run, in batches."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [range(int(only), int(only) + 1)]
    count = int(os.environ.get("PYCTRL_HISTORIES", DEFAULT))
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.slow(reason="each test is several histories, of one or two seconds")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("batch", seeds(), ids=lambda batch: f"{batch.start}-{batch.stop - 1}")
def test_the_cluster_converges_and_becomes_idle(batch: range) -> None:
    """The operator converges and becomes idle, and its cache equals the server; no duplicates, losses or busy loops."""
    for seed in batch:
        live(seed)


def test_the_same_seed_is_the_same_history() -> None:
    """A failed history can be reproduced, line by line."""
    for seed in (3, 37):
        assert live(seed).trace.lines == live(seed).trace.lines


def test_a_failed_history_prints_its_seed_and_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure prints the seed and the trace, and can be reproduced."""
    monkeypatch.setattr("tests.simulation._history.BUSIEST_MINUTE", 0)
    with pytest.raises(HistoryFailed, match=r"(?s)history 3: .*operator starts.*requests in one minute"):
        live(3)
