"""Mistakes that the oracle proves directly: writes without the Lease, accesses that are not declared, hanging."""

from __future__ import annotations

from pyctrl.simulation._act_words import act_noun
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._rules.rule import GuessRule, since
from pyctrl.simulation._run import ProblemKind

__all__ = ["PROCESSES"]


def _not_leading(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.NOT_LEADING):
        return ""
    wrote = next((entry for entry in evidence.writes if entry.leads is False and entry.has_effect), None)
    if wrote is None:
        return ""
    what = act_noun(evidence, wrote)
    return f"{since(evidence)}, {wrote.process} sent {what} while another replica was entitled to lead"


def _undeclared(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.UNDECLARED):
        return ""
    return ", ".join(evidence.run.undeclared[:3])


def _hangs(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.HANGS):
        return ""
    return f"{since(evidence)}, {evidence.run.error or evidence.problems_of(ProblemKind.HANGS)[0].message}"


PROCESSES = (
    GuessRule(
        "a replica wrote that does not lead",
        _not_leading,
        "write only through the manager's client, which refuses writes without the Lease, and only from reconciles or "
        "from tasks that end with the leadership",
    ),
    GuessRule("an access is not declared", _undeclared, "add it to `rbac` of the reconciler, with allow(…)"),
    GuessRule(
        "the operator hangs", _hangs, "give every wait a timeout, and do not wait for an event that may be missed"
    ),
)
