"""Mistakes by which a write never follows: swallowed errors, crashes between two writes, memory of the process."""

from __future__ import annotations

from pyctrl.simulation._act_words import act_noun, is_read
from pyctrl.simulation._evidence import REFUSALS, Act, Evidence
from pyctrl.simulation._leaves import leaves
from pyctrl.simulation._rules.rule import GuessRule, once, since
from pyctrl.simulation._run import ProblemKind
from pyctrl.simulation._schedule import FaultKind

__all__ = ["LOST_WRITES"]


def _swallowed(evidence: Evidence) -> str:
    fault = once(evidence)
    if fault is None or fault.kind not in {*REFUSALS, FaultKind.ANSWER_LOST}:
        return ""
    planned = evidence.planned(fault)
    if planned is None or _is_tried_again(evidence, planned):
        return ""
    ended = [
        each
        for each in evidence.reconciles_later()
        if not planned.reconcile or f"{each.controller} {each.request}" == planned.reconcile
    ]
    if not ended or any(each.error for each in ended):
        return ""
    lost = f"{act_noun(evidence, planned)} was never tried again"
    return f"{since(evidence)}, the reconcile ended without an error, and {lost}"


def _is_tried_again(evidence: Evidence, planned: Act) -> bool:
    acts = evidence.acts(evidence.run.history)
    same = [entry for entry in acts if entry.point and planned.point and entry.point.what == planned.point.what]
    return any(entry.at > evidence.began and entry.point != planned.point for entry in same)


def _with_the_first(evidence: Evidence) -> str:
    """Recognise a write that only follows another one in the same reconcile, and is lost when that is cut off."""
    fault = once(evidence)
    if fault is None:
        return ""
    planned = evidence.planned(fault) or _last_before(evidence)
    if planned is None:
        return ""
    for second in evidence.unmade:
        first = _predecessor(evidence, planned, second)
        if first is not None and evidence.reconciles_later():
            return (
                f"{act_noun(evidence, second)} only follows {act_noun(evidence, first)} in the same reconcile, and was "
                f"never made {since(evidence)} between them"
            )
    return ""


def _last_before(evidence: Evidence) -> Act | None:
    """Return the last write or call of the reconcile that a crash between two awaits cut off, in the reference."""
    points = [entry.point for entry in evidence.cut_off[-1:]]
    return next((entry for entry in evidence.acts(evidence.reference.history) if entry.point in points), None)


def _predecessor(evidence: Evidence, planned: Act, second: Act) -> Act | None:
    """Return the write or call that the second one follows, if the fault was between the two or at the second one."""
    before = [
        entry
        for entry in evidence.acts(evidence.reference.history)
        if evidence.same_reconcile(entry, second) and evidence.is_before(entry, second)
    ]
    if planned is not second and planned not in before:
        return None
    return next((entry for entry in reversed(before) if not is_read(entry)), None)


def _memory(evidence: Evidence) -> str:
    fault = once(evidence)
    if fault is None or fault.kind is not FaultKind.CRASH or evidence.cut_off:
        return ""
    if not evidence.problems_of(ProblemKind.END_STATE, ProblemKind.INVARIANT):
        return ""
    if evidence.never:
        lost = f"{act_noun(evidence, evidence.never[-1])} never followed"
        return f"the new process did not know what the old one knew, and {lost}"
    for target in sorted(evidence.concerned):
        end = dict(leaves(evidence.run.end.objects.get(target, {})))
        wanted = dict(leaves(evidence.reference.end.objects.get(target, {})))
        for path in sorted(path for path in wanted if end.get(path) != wanted[path]):
            field = f"{path.removeprefix('.')} of {evidence.name(target)}"
            return f"after the restart, {field} is {end.get(path)!r} instead of {wanted[path]!r}"
    return ""


LOST_WRITES = (
    GuessRule(
        "an error is swallowed",
        _swallowed,
        "let the exception leave reconcile, so that it is retried with backoff",
    ),
    GuessRule(
        "a write is made only together with another one",
        _with_the_first,
        "check for each object separately in every reconcile",
    ),
    GuessRule(
        "memory of the process is lost",
        _memory,
        "compute it from the objects on the server in every reconcile, or store it there",
    ),
)
