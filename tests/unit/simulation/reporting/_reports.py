"""A report with a bit of everything."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.simulation._report import Attempt, Plan, Report, RunOutcome
from pyctrl.simulation._run import ProblemKind, RunProblem
from pyctrl.simulation._schedule import Point, Schedule
from pyctrl.simulation._story import tell
from tests.unit.simulation._script import PARENT, Script

CREATE = "create jobs default/web-*#1"
DIFF = "--- reference\n+++ run\n+kind: Job"


def attempt(family: str, schedule: str, *, fails: bool = False, unused: Sequence[str] = ()) -> Attempt:
    """Return an attempt."""
    problems = (RunProblem(ProblemKind.END_STATE, "there is a second Job"),) if fails else ()
    return Attempt(
        Plan(family, Schedule.parse(schedule)), RunOutcome(problems, frozenset({"a"}), unused=tuple(unused)), 0.5
    )


def survived() -> Report:
    """Return the report of an operator that survived."""
    reference = Script().user("create", PARENT).begin().write("create", "jobs default/web-a", generate="web-").done()
    run = reference.run(points=[Point.parse(CREATE), Point.parse("step#1")])
    attempts = [
        attempt("crash", f"crash-before {CREATE}"),
        attempt("crash", f"crash-after {CREATE}"),
        attempt("error", f"conflict {CREATE}", unused=("conflict",)),
        attempt("meddling", "delete-child step#1 by jobs default/web-*"),
    ]
    return Report("podset", run, attempts, planned=5, seconds=2.0)


def broken() -> Report:
    """Return the report of an operator with a mistake."""
    report = survived()
    text = f"crash-during {CREATE}"
    run = Script(text).user("create", PARENT).begin().fault()
    run.write("create", "jobs default/web-b", generate="web-", status=0, has_effect=True).restart()
    run.begin().write("create", "jobs default/web-c", generate="web-").done()
    problem = RunProblem(ProblemKind.END_STATE, "there is a second <Job>", (), DIFF)
    pair = f"crash-during {CREATE}; delete-child step#1 by jobs default/web-*"
    report.attempts = [*report.attempts, attempt("crash", text, fails=True), attempt("random", pair, fails=True)]
    report.stories = [tell(report.reference, run.run(), [problem])]
    return report
