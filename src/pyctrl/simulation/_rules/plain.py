"""The pattern in plain words, when no class of mistakes is certain."""

from __future__ import annotations

from pyctrl.simulation._act_words import act_noun, changed_fields
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._rules.rule import GuessRule, since

__all__ = ["PLAIN"]


def _never(evidence: Evidence) -> str:
    lost = evidence.unmade
    if not lost or not evidence.faults:
        return ""
    return f"{since(evidence)}, {act_noun(evidence, lost[-1])} never followed"


def _more(evidence: Evidence) -> str:
    extra = evidence.later((*evidence.extra, *evidence.extra_calls))
    if not extra or not evidence.faults:
        return ""
    fields = ", ".join(changed_fields(evidence, extra[-1]))
    what = act_noun(evidence, extra[-1]) + (f" ({fields})" if fields else "")
    return f"{since(evidence)}, the operator also made {what}, which it does not do without it"


PLAIN = (
    GuessRule("something is never made up for", _never, ""),
    GuessRule("something is done that is not needed", _more, ""),
)
