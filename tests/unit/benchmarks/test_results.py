from __future__ import annotations

from pathlib import Path

from _results import Call, Results
from _targets import verdicts

from tests.unit.benchmarks._kit import case, results


def test_a_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    """Saved and loaded results have the same calls, rows and sizes of objects."""
    made = results({case(): {"pyctrl": {"sync_cpu": 1e-5}}}, runs=3)
    made.object_bytes[case().server] = 40_960_000
    made.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json") == made


def test_a_later_call_takes_the_place_of_an_earlier_one() -> None:
    """A later call replaces the results that it measures again and keeps the others."""
    made = results({case(): {"pyctrl": {"sync_cpu": 2.0}, "limit": {"sync_cpu": 1.0}}})
    made.calls.append(Call({}, {}))
    made.add(case(), "pyctrl", {"sync_cpu": 3.0})
    assert made.values(case(), "pyctrl", "sync_cpu") == [3.0]
    assert made.values(case(), "limit", "sync_cpu") == [1.0]


def _verdict(rows: Results, what: str) -> list[str] | None:
    return next((row for row in verdicts(rows, is_whole=False) if row[0] == what), None)


SYNC = "sync, CPU: of controller-runtime's"


def test_a_target_is_met_by_the_ratio_of_one_run() -> None:
    """A target is met if the ratio within one run is within the limit."""
    enough, much = (
        results({case(): {"pyctrl": {"sync_cpu": ours}, "controller-runtime": {"sync_cpu": 60.0}}})
        for ours in (10.0, 11.0)
    )
    assert _verdict(enough, SYNC) == [SYNC, "10,000 widgets, stream", "1/6.0", "1/6.0", "ok"]
    assert _verdict(much, SYNC) == [SYNC, "10,000 widgets, stream", "1/6.0", "1/5.5", "MISS"]


def test_a_target_is_looked_at_where_there_are_most_objects_of_its_size() -> None:
    """A target is checked on the case with the most objects of its size."""
    go, rows = {"sync_cpu": 60.0}, {}
    for objects, size, ours in ((1_000, 4096, 30.0), (50_000, 4096, 5.0), (100_000, 1024, 30.0)):
        rows[case(objects, size)] = {"pyctrl": {"sync_cpu": ours}, "controller-runtime": go}
    verdict = _verdict(results(rows), SYNC)
    assert verdict is not None
    assert (verdict[1], verdict[4]) == ("50,000 widgets, stream", "ok")


def test_a_comparison_of_two_calls_is_marked() -> None:
    """A ratio of numbers from two calls is marked with a star."""
    made = results({case(): {"pyctrl": {"sync_cpu": 1.0}}})
    made.calls.append(Call({}, {}))
    made.add(case(), "controller-runtime", {"sync_cpu": 60.0})
    verdict = _verdict(made, SYNC)
    assert verdict is not None
    assert verdict[1].endswith(" *")


def test_what_was_not_measured_is_told_only_of_the_whole() -> None:
    """A missing number is reported when all lines are measured, but not when some lines are selected."""
    assert not list(verdicts(results({}), is_whole=False))
    assert {row[-1] for row in verdicts(results({}), is_whole=True)} == {"not measured"}
