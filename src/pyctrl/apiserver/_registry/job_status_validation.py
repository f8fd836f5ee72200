"""Validation of the status of a Job, which controllers other than Kubernetes' own may write, too.

Most rules hold only for a change: a status that breaks them already can be written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import FieldError, duplicate, invalid_value, required
from pyctrl.apiserver._registry.field_validation import not_negative, text_of
from pyctrl.apiserver._registry.status_validation import is_true
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_job_status"]

_Errors: TypeAlias = Iterator[FieldError]
_CONDITIONS = "status.conditions"


def validate_job_status(new: Object, old: Object | None) -> _Errors:
    """Check the counters, the conditions, the times and the indexes of a Job."""
    status, before = new["status"], (old or {}).get("status") or {}
    changed = {key for key in status.keys() | before.keys() if status.get(key) != before.get(key)}
    yield from not_negative(status, "status", "active", "succeeded", "failed", "ready", "terminating")
    yield from _uncounted(status.get("uncountedTerminatedPods") or {})
    changed |= {kind for kind in _TERMINAL if is_true(new, kind) != is_true(old, kind)}
    if changed & {"Complete", "Failed"}:
        changed.add("finished")
    yield from _outcome(new, changed)
    yield from _completion_time(new, changed)
    yield from _required_conditions(new, changed)
    if is_true(new, "Complete") or is_true(new, "Failed"):
        yield from _finished(new, changed)
    yield from _indexes(new["spec"], status, changed)
    ready = status.get("ready")
    if changed & {"ready", "active"} and ready is not None and ready > (status.get("active") or 0):
        yield invalid_value("status.ready", ready, "cannot set more ready pods than active")
    yield from _success_criteria(new)
    yield from _transition(new, old or {}, before)


_TERMINAL = ("Failed", "Complete", "FailureTarget", "SuccessCriteriaMet")


def _refused(why: str) -> FieldError:
    """Return the error for a combination of conditions, which has no value."""
    return FieldError("FieldValueInvalid", f"Invalid value: {why}", _CONDITIONS)


def _uncounted(uncounted: Mapping[str, JSON]) -> _Errors:
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(key) or ()):
            path = f"status.uncountedTerminatedPods.{key}[{index}]"
            if not uid:
                yield invalid_value(path, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(path, uid)
            seen.add(uid)


def _outcome(job: Object, changed: set[str]) -> _Errors:
    for other, shown in (("Failed", "Failed=true"), ("FailureTarget", "FailureTarget=true")):
        if changed & {"Complete", other} and is_true(job, "Complete") and is_true(job, other):
            yield _refused(f"cannot set Complete=True and {shown} conditions")


def _completion_time(job: Object, changed: set[str]) -> _Errors:
    path, is_complete = "status.completionTime", is_true(job, "Complete")
    start, completion = job["status"].get("startTime"), job["status"].get("completionTime")
    if changed & {"Complete", "completionTime"}:
        if completion and not is_complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield invalid_value(path, completion, why)
        elif is_complete and not completion:
            yield required(path, "completionTime is required for Complete jobs")
    if changed & {"startTime", "completionTime"} and start and completion and completion < start:
        yield invalid_value(path, completion, "must be equal to or after `startTime`")


def _required_conditions(job: Object, changed: set[str]) -> _Errors:
    if changed & {"Failed", "failedIndexes"} and is_true(job, "Failed") and not is_true(job, "FailureTarget"):
        yield _refused("cannot set Failed=True condition without the FailureTarget=true condition")
    is_unmet = is_true(job, "Complete") and not is_true(job, "SuccessCriteriaMet")
    if changed & {"Complete", "SuccessCriteriaMet"} and is_unmet:
        yield _refused("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _finished(job: Object, changed: set[str]) -> _Errors:
    spec, status = job["spec"], job["status"]
    if changed & {"finished", "active"} and (active := status.get("active") or 0) > 0:
        yield invalid_value("status.active", active, "active>0 is invalid for finished job")
    is_never_started = spec.get("suspend") is True and spec.get("completions") == 0
    if changed & {"finished", "startTime"} and not status.get("startTime") and not is_never_started:
        yield required("status.startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods") or {}
    if changed & {"finished", "uncountedTerminatedPods"} and any(uncounted.values()):
        shown = {"Succeeded": uncounted.get("succeeded"), "Failed": uncounted.get("failed")}
        yield invalid_value("status.uncountedTerminatedPods", shown, "must be empty for finished job")
    if changed & {"finished", "terminating"} and (count := status.get("terminating") or 0) > 0:
        yield invalid_value("status.terminating", count, "terminating>0 is invalid for finished job")


def _success_criteria(job: Object) -> _Errors:
    is_met = is_true(job, "SuccessCriteriaMet")
    if is_met and is_true(job, "Failed"):
        yield _refused("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if is_met and is_true(job, "FailureTarget"):
        yield _refused("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if job["spec"].get("successPolicy") is not None and not is_met and is_true(job, "Complete"):
        yield _refused("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _transition(new: Object, old: Object, before: Mapping[str, JSON]) -> _Errors:
    spec, status = new["spec"], new["status"]
    for kind in ("Failed", "Complete", "FailureTarget"):
        if is_true(old, kind) and not is_true(new, kind):
            yield _refused(f"cannot disable the terminal {kind}=True condition")
    # the completions of an indexed job can be reduced with its parallelism
    is_elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for key in ("failed",) if is_elastic else ("failed", "succeeded"):
        if (count := status.get(key) or 0) < (before.get(key) or 0):
            yield invalid_value(f"status.{key}", count, f"cannot decrease the {key} counter")
    completion, start = status.get("completionTime"), status.get("startTime")
    if completion and before.get("completionTime") not in (None, completion):
        yield invalid_value("status.completionTime", completion, "field is immutable")
    is_resuming = is_true(old, "Suspended") and not is_true(new, "Suspended")
    is_started = before.get("startTime") not in (None, start) and not spec.get("suspend") and not is_resuming
    if is_started:
        yield invalid_value("status.startTime", start, "field is immutable for unsuspended job once set")
    if is_true(old, "SuccessCriteriaMet") and not is_true(new, "SuccessCriteriaMet"):
        yield _refused("cannot disable the SuccessCriteriaMet=True condition")
    is_late = is_true(old, "Complete") and not is_true(old, "SuccessCriteriaMet")
    if is_late and is_true(new, "SuccessCriteriaMet"):
        yield _refused("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")


# -- indexes -----------------------------------------------------------------------------------------------------


def _indexes(spec: Mapping[str, JSON], status: Mapping[str, JSON], changed: set[str]) -> _Errors:
    completed, failed = text_of(status, "completedIndexes"), status.get("failedIndexes")
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex")
    if "completedIndexes" in changed and completions is not None:
        yield from _format(completed, completions, "completedIndexes")
    has_failed = completions is not None and per_index is not None and failed is not None
    if "failedIndexes" in changed and has_failed:
        yield from _format(failed or "", completions or 0, "failedIndexes")
    if "completedIndexes" in changed and completed and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid_value("status.completedIndexes", completed, why)
    if "failedIndexes" in changed and per_index is None and failed is not None:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid_value("status.failedIndexes", failed, why)
    if changed & {"failedIndexes", "completedIndexes"} and completions is not None and completed and failed:
        overlap = _parsed(completed, completions) & _parsed(failed, completions)
        if overlap:
            why = f"failedIndexes and completedIndexes overlap at index: {min(overlap)}"
            yield invalid_value("status.failedIndexes", failed, why)


def _format(text: str, completions: int, key: str) -> _Errors:
    try:
        last = -1
        for each in text.split(",") if text else ():
            first, end = _interval(each, completions)
            if first <= last:
                raise ValueError(_order(last, first))
            last = end
    except ValueError as wrong:
        yield invalid_value(f"status.{key}", text, f"error parsing {key}: {wrong}")


def _parsed(text: str, completions: int) -> set[int]:
    """Return the indexes of a text; intervals that are wrong have none."""
    found: set[int] = set()
    for each in text.split(","):
        try:
            first, end = _interval(each, completions)
        except ValueError:
            continue
        found.update(range(first, end + 1))
    return found


def _interval(text: str, completions: int) -> tuple[int, int]:
    """Return the first and the last index of an interval.

    Raises:
        ValueError: It is wrong.
    """
    limits = text.split("-")
    if len(limits) > 2:
        raise ValueError(
            f"the fragment {quoted(text)} violates the requirement that an index interval can have at most two parts "
            "separated by '-'"
        )
    numbers = [_index(each, completions) for each in limits]
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise ValueError(_order(*numbers))
    return numbers[0], numbers[-1]


def _index(text: str, completions: int) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"cannot convert string to integer for index: {quoted(text)}")
    if int(text) >= completions:
        raise ValueError(f"too large index: {quoted(text)}")
    return int(text)


def _order(previous: int, current: int) -> str:
    return f"non-increasing order, previous: {previous}, current: {current}"
