"""Validation of the status of Jobs."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.job_status_validation import validate_job_status

START, END = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
INDEXED: dict[str, Any] = {"completionMode": "Indexed", "completions": 5, "parallelism": 2, "backoffLimitPerIndex": 1}


def refused(new: dict[str, Any], old: dict[str, Any] | None = None, spec: dict[str, Any] | None = None) -> list[str]:
    """Return the errors of a status as texts, each with its field."""
    jobs = ({"spec": spec or {}, "status": status} for status in (new, old or {}))
    return [f"{each.field}: {each.message}" for each in validate_job_status(*jobs)]


def true(*kinds: str) -> list[dict[str, str]]:
    """Return conditions with the status True."""
    return [{"type": each, "status": "True"} for each in kinds]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"active": 1, "ready": 1, "startTime": START}, ""),
        ({"active": -1}, "status.active: Invalid value: -1"),
        ({"ready": 1}, "cannot set more ready pods than active"),
        ({"uncountedTerminatedPods": {"succeeded": [""]}}, "succeeded[0]: Invalid value"),
        ({"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a"]}}, "failed[0]: Duplicate value"),
        ({"completionTime": END}, "when there is no Complete=True condition"),
        ({"conditions": true("Failed"), "startTime": START}, "without the FailureTarget=true condition"),
        ({"conditions": true("Complete"), "startTime": START, "completionTime": END}, "without the SuccessCriteriaMet"),
        ({"conditions": true("SuccessCriteriaMet", "FailureTarget")}, "SuccessCriteriaMet=True and FailureTarget=true"),
        ({"completedIndexes": "0"}, "when non-indexed completion mode"),
        ({"failedIndexes": "0"}, "when backoffLimitPerIndex is null"),
    ],
)
def test_a_status_of_a_job_is_consistent(status: dict[str, Any], expected: str) -> None:
    """Counters, times and conditions that do not fit each other are refused."""
    found = refused(status)
    assert found == [] if not expected else expected in found[0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ""),
        ({"completionTime": None}, "completionTime is required for Complete jobs"),
        ({"completionTime": "2025-01-01T00:00:00Z"}, "must be equal to or after `startTime`"),
        ({"active": 1}, "active>0 is invalid for finished job"),
        ({"terminating": 1}, "terminating>0 is invalid for finished job"),
        ({"startTime": None}, "startTime is required for finished job"),
        ({"uncountedTerminatedPods": {"succeeded": ["a"]}}, "must be empty for finished job"),
    ],
)
def test_a_finished_job_has_no_pods_and_both_times(change: dict[str, Any], expected: str) -> None:
    """A Job that becomes complete has its times, and neither active nor uncounted pods."""
    complete = {"conditions": true("Complete", "SuccessCriteriaMet"), "startTime": START, "completionTime": END}
    found = refused({**complete, **change})
    assert found == [] if not expected else expected in found[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,2-3", ""),
        ("0-1-2", "at most two parts separated by '-'"),
        ("x", 'cannot convert string to integer for index: "x"'),
        ("5", 'too large index: "5"'),
        ("3-2", "non-increasing order, previous: 3, current: 2"),
        ("2,1", "non-increasing order, previous: 2, current: 1"),
    ],
)
def test_indexes_are_increasing_intervals(text: str, expected: str) -> None:
    """Completed and failed indexes are intervals in increasing order, below the completions."""
    for key in ("completedIndexes", "failedIndexes"):
        found = refused({key: text}, spec=INDEXED)
        assert found == [] if not expected else f"error parsing {key}: " in found[0] and expected in found[0]


def test_an_index_has_one_outcome() -> None:
    """An index that is both completed and failed is refused."""
    found = refused({"completedIndexes": "0-2", "failedIndexes": "2-3"}, spec=INDEXED)
    assert found == [
        'status.failedIndexes: Invalid value: "2-3": failedIndexes and completedIndexes overlap at index: 2'
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"failed": 2}, {"failed": 1}, "cannot decrease the failed counter"),
        ({"succeeded": 2}, {"succeeded": 1}, "cannot decrease the succeeded counter"),
        ({"startTime": START}, {"startTime": END}, "field is immutable for unsuspended job once set"),
        ({"conditions": true("FailureTarget")}, {}, "cannot disable the terminal FailureTarget=True condition"),
        ({"conditions": true("SuccessCriteriaMet")}, {}, "cannot disable the SuccessCriteriaMet=True condition"),
    ],
)
def test_a_job_does_not_go_back(old: dict[str, Any], new: dict[str, Any], expected: str) -> None:
    """Counters do not decrease, the start does not change, and an outcome is not taken back."""
    found = refused(new, old)
    assert len(found) == 1
    assert expected in found[0]


def test_a_status_that_is_wrong_already_can_be_written() -> None:
    """A rule that an unchanged field breaks does not refuse a write of other fields."""
    wrong = {"completedIndexes": "x", "ready": 3}
    assert refused({**wrong, "failed": 1}, wrong) == []
