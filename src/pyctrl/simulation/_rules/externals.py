"""Mistakes about external systems."""

from __future__ import annotations

from pyctrl.simulation._act_words import is_deleting, is_read
from pyctrl.simulation._evidence import OLD_VIEWS, Evidence, without_uuids
from pyctrl.simulation._history import Called
from pyctrl.simulation._rules.rule import GuessRule, since
from pyctrl.simulation._schedule import FaultKind

__all__ = ["EXTERNALS"]

_REPEATED = (FaultKind.CALL_TWICE, FaultKind.ANSWER_LOST, FaultKind.CRASH_DURING, FaultKind.CRASH_AFTER)


def _on_an_old_view(evidence: Evidence) -> str:
    return _made_again(evidence) if evidence.faults_of(*OLD_VIEWS) else ""


def _made_again(evidence: Evidence) -> str:
    if not evidence.externals_differ:
        return ""
    hit = {fault.point.what for fault in evidence.faults_of(*_REPEATED)}
    for call in sorted(evidence.extra_calls, key=lambda call: call.point.what not in hit):
        if is_read(call) or is_deleting(call):
            continue
        text = without_uuids(call.call)
        made = [each for each in evidence.run.history.of(Called) if without_uuids(each.call) == text]
        return f"{since(evidence)}, {text} was made again, and took effect {_times(sum(c.effects for c in made))}"
    return ""


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


EXTERNALS = (
    GuessRule(
        "an external call is made on a stale view",
        _on_an_old_view,
        "make it so that a second call changes nothing, or read the object past the cache before it",
    ),
    GuessRule(
        "an external call is not idempotent",
        _made_again,
        "derive its id from the object, such as its uid, or look for the result before you call again",
    ),
)
