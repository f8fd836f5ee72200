"""Stories: a failed run, told for people."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._guess import guess
from pyctrl.simulation._report import Story
from pyctrl.simulation._run import ProblemKind, Run, RunProblem
from pyctrl.simulation._timeline import timeline

__all__ = ["alike", "tell"]

#: The kinds of problems by how well they name what is wrong, best first. The first one is the title.
_ORDER = (
    ProblemKind.FOREIGN,
    ProblemKind.NOT_LEADING,
    ProblemKind.FINALIZER,
    ProblemKind.ORPHAN,
    ProblemKind.INVARIANT,
    ProblemKind.END_STATE,
    ProblemKind.HANGS,
    ProblemKind.NOT_QUIET,
    ProblemKind.UNDECLARED,
    ProblemKind.DEFECT,
    ProblemKind.SCENARIO,
)


def tell(reference: Run, run: Run, problems: Sequence[RunProblem]) -> Story:
    """Return the story of a failed run.

    Args:
        reference: The run of the same scenario without faults.
        run: The failed run, shrunk.
        problems: What the oracle found in it; at least one.
    """
    ordered = sorted(
        problems, key=lambda problem: _ORDER.index(problem.kind) if problem.kind in _ORDER else len(_ORDER)
    )
    evidence = Evidence(reference, run, ordered)
    return Story(
        title=ordered[0].message if ordered else "nothing is wrong",
        events=timeline(evidence),
        problems=tuple(ordered),
        diff="\n".join(dict.fromkeys(problem.diff.rstrip("\n") for problem in ordered if problem.diff)),
        guess=guess(evidence),
        schedule=run.schedule,
    )


def alike(story: Story) -> str:
    """Return a text that is equal for stories of the same mistake: its class, and the resources that it concerns."""
    resources = sorted({each.resource for problem in story.problems for each in problem.objects})
    return f"{story.guess.partition(':')[0] or story.title} {resources}"
