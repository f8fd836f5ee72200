"""Mistakes that show when the wall clock jumps."""

from __future__ import annotations

from pyctrl.simulation._act_words import act_noun
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._rules.rule import GuessRule
from pyctrl.simulation._schedule import FaultKind

__all__ = ["CLOCK"]


def _clock(evidence: Evidence) -> str:
    jumps = evidence.faults_of(FaultKind.JUMP_CLOCK)
    if not jumps or len(evidence.faults) > len(jumps):
        return ""
    more = evidence.later((*evidence.extra, *evidence.extra_calls))
    result = "the result is another one"
    if evidence.unmade:
        result = f"{act_noun(evidence, evidence.unmade[-1])} never followed"
    elif more:
        result = f"the operator made {act_noun(evidence, more[-1])} once more"
    return f"after the clock had jumped by {jumps[0].argument} s, {result}"


CLOCK = (
    GuessRule(
        "the result depends on the wall clock",
        _clock,
        "compute deadlines from times that are stored in objects, and allow that the clock goes back",
    ),
)
