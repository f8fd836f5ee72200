"""Whatever happens to the network and to the operator: in the end everything is as the user wants it, and still.

Each history has a seed, and the same seed is the same history. `PYCTRL_HISTORIES=3000` lives through more of them than
by default, `PYCTRL_HISTORY=1167` through that one alone; docs/testing.md says how to do this for an operator of one's
own.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation._history import HistoryFailed, live

DEFAULT = 30  # histories; about a second of CPU each
BATCH = 5


def seeds() -> list[range]:
    """Return the seeds to live through, in batches."""
    if only := os.environ.get("PYCTRL_HISTORY"):
        return [range(int(only), int(only) + 1)]
    count = int(os.environ.get("PYCTRL_HISTORIES", DEFAULT))
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.slow(reason="each test is several histories, of one or two seconds")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("batch", seeds(), ids=lambda batch: f"{batch.start}-{batch.stop - 1}")
def test_all_is_well_in_the_end(batch: range) -> None:
    """The operator converges, goes quiet, and its cache is the server's; nothing was doubled, lost or spun on."""
    for seed in batch:
        live(seed)


def test_the_same_seed_is_the_same_history() -> None:
    """A history that failed can be lived again, line by line."""
    for seed in (3, 37):
        assert live(seed).trace.lines == live(seed).trace.lines


def test_a_failing_history_tells_its_seed_and_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong can be read, and lived again."""
    monkeypatch.setattr("tests.simulation._history.BUSIEST_MINUTE", 0)
    with pytest.raises(HistoryFailed, match=r"(?s)history 3: .*operator starts.*requests in one minute"):
        live(3)
