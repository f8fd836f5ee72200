from __future__ import annotations

from _report import report
from _results import Results

from tests.unit.benchmarks._kit import case, results

NUMBERS = {"sync_cpu": 1e-5, "events_cpu": 2e-5, "ready_bytes": 5e7, "synced_bytes": 1e8}


def _sizes() -> Results:
    rows = {
        case(objects, size): {"limit": NUMBERS, "pyctrl": NUMBERS, "controller-runtime": {**NUMBERS, "sync_cpu": 2e-4}}
        for objects in (1_000, 10_000)
        for size in (1024, 4096)
    }
    rows[case()]["kubernetes"] = NUMBERS  # a peer that does not run every case
    return results(rows)


def test_several_sizes_are_in_one_table() -> None:
    """The overview has a row for each number and size; only the case that most peers ran has its own table."""
    printed = report(_sizes(), ["sync"])
    assert printed.count("initial sync") == 1
    assert "|   1,000 | 1,024 |    10.0 |    1.00 | 20.00 |\n" in printed
    assert printed.index("| kubernetes ") < printed.index("all sizes: widgets")


def test_each_size_has_a_table_in_the_long_report() -> None:
    """The long report has a table for each size."""
    assert report(_sizes(), ["sync"], is_long=True).count("initial sync") == 4


def test_one_size_needs_no_table_of_sizes() -> None:
    """Results of one size have one table and no overview."""
    printed = report(results({case(): {"pyctrl": NUMBERS}}), ["sync", "memory"])
    assert "initial sync" in printed
    assert "all sizes" not in printed


def test_growth_shows_who_did_several_numbers() -> None:
    """The growth table compares few with many objects of a size, and leaves out peers with only one number."""
    growth = report(_sizes(), ["sync"]).partition("growth with")[2].partition("targets")[0]
    assert "| 4,096 | controller-runtime |          200 |  200 |        20.0 | 20.0 |         50.0 | 5.00 |" in growth
    assert "kubernetes |" not in growth


def test_latency_has_a_row_for_each_rate_and_peer() -> None:
    """The latency table has a row for each rate and peer."""
    numbers = {f"latency_{rate}_{name}": rate / 1e6 for rate in (100, 1_000) for name in ("median", "99th", "cpu")}
    printed = report(results({case(1_000, 1, "latency", "podsets"): {"pyctrl": numbers}}), ["latency"])
    assert "| 100      | pyctrl |      0.10 |" in printed
    assert "| 1,000    | pyctrl |      1.00 |" in printed


def test_a_deviation_needs_several_runs() -> None:
    """A deviation is shown only for several runs."""
    one, three = (report(results({case(): {"pyctrl": NUMBERS}}, runs=runs), ["sync"]) for runs in (1, 3))
    assert ("10.0 ±0%" in one, "10.0 ±0%" in three) == (False, True)
