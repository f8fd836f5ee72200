"""Mistakes by which an operator does not come to rest."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import pairwise
from typing import Any

from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._history import Reconciled, ReconcileStarted, Sent
from pyctrl.simulation._leaves import leaves
from pyctrl.simulation._rules.rule import GuessRule
from pyctrl.simulation._run import ProblemKind

__all__ = ["QUIET"]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\d{10}(?:\d{3})?(?:\.\d+)?$")
_LEAST_IDLE = 10  # reconciles of a minute that are called one, since a few may be late
_LEAST = 3  # writes of an object, or reconciles of a request, that are called a loop


def _late_writes(evidence: Evidence) -> list[Sent]:
    """Return the writes in the time of quiet to the object that was written most often."""
    if not evidence.problems_of(ProblemKind.NOT_QUIET, ProblemKind.HANGS):
        return []
    found: dict[Any, list[Sent]] = defaultdict(list)
    for entry in evidence.writes:
        if entry.at >= evidence.run.quiet_from and not entry.verb.startswith("delete"):
            found[entry.target, entry.subresource].append(entry)
    return max(found.values(), key=len, default=[])


def _content(entry: Sent) -> dict[str, Any]:
    return dict(leaves(entry.body if entry.body is not None else entry.answer))


def _timestamp(evidence: Evidence) -> str:
    writes = _late_writes(evidence)
    if len(writes) < 2:
        return ""
    one, other = _content(writes[-2]), _content(writes[-1])
    different = sorted(path for path in {*one, *other} if one.get(path) != other.get(path))
    if different and all(_TIME.search(str(other.get(path))) for path in different):
        field = f"{different[0].removeprefix('.')} of {evidence.name(writes[-1].target)}"
        return f"every reconcile writes another time to {field}, and the write causes the next reconcile"
    return ""


def _oscillation(evidence: Evidence) -> str:
    writes = [json.dumps(_content(entry), sort_keys=True, default=str) for entry in _late_writes(evidence)]
    values = set(writes)
    turns = sum(one != other for one, other in pairwise(writes))
    if len(writes) < _LEAST or not 2 <= len(values) <= len(writes) // 2 + 1 or turns < len(writes) // 2:
        return ""
    last = _late_writes(evidence)[-1]
    number = "two" if len(values) == 2 else str(len(values))
    return f"{evidence.name(last.target)} gets {number} values in turn, {len(writes)} times in the time of quiet"


def _hot(evidence: Evidence) -> str:
    writes = _late_writes(evidence)
    if len(writes) < _LEAST:
        return ""
    refused = [entry for entry in writes if entry.status >= 400]
    if len(refused) == len(writes):
        last = writes[-1]
        return f"{last.verb} of {evidence.name(last.target)} is answered with {last.status} {last.reason} every time"
    return f"{evidence.name(writes[-1].target)} was written {len(writes)} times in the time of quiet"


def _fails(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.NOT_QUIET, ProblemKind.DEFECT, ProblemKind.END_STATE):
        return ""
    ended = [entry for entry in evidence.run.history.of(Reconciled) if entry.at >= evidence.run.quiet_from]
    failed = [entry for entry in ended if entry.error]
    if len(failed) < 2 or failed[-1] is not ended[-1]:
        return ""
    return f"reconcile {failed[-1].request} fails again and again with {failed[-1].error.partition(chr(10))[0][:160]}"


def _idle(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.NOT_QUIET):
        return ""
    started = [e for e in evidence.run.history.of(ReconcileStarted) if e.at >= evidence.run.quiet_from]
    if len(started) < _LEAST_IDLE:
        return ""
    return f"{started[-1].request} is reconciled {len(started)} times in the time of quiet, without a change"


QUIET = (
    GuessRule("a time in an object makes a loop", _timestamp, "write it only when something else has changed"),
    GuessRule(
        "two values take turns",
        _oscillation,
        "sort lists before you compare and write them, and let one writer have each field",
    ),
    GuessRule(
        "an error never goes away",
        _fails,
        "handle it, or report it in a condition and stop the retries with TerminalError",
    ),
    GuessRule("the operator wakes itself", _hot, "compare before you write, and write nothing if nothing has changed"),
    GuessRule("the operator reconciles without an end", _idle, "return a requeue only while you wait for something"),
)
