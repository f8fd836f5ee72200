"""Stories: what they tell of a handwritten run, and how they look."""

from __future__ import annotations

from pyctrl.simulation._history import Rested, RestPhase
from pyctrl.simulation._run import ProblemKind, RunProblem, State
from pyctrl.simulation._story import tell
from tests.unit.simulation._script import JOB, PARENT, Script, problem

DIFF = "--- reference\n+++ run\n+kind: Job\n+metadata:\n+  name: web-*"

STORY = """\
there are 2 Jobs default/web-* instead of 1

What happened:
    0.10 s  user        creates PodSet default/web (v11)
    0.40 s  fault       killed during create Job default/web-b, which takes effect; the answer is lost  (operator.py:42)
    1.50 s  operator-1  started
    1.70 s  operator-1  creates Job default/web-c (v13)  (operator.py:42)

Without the faults (-) and with them (+):
  --- reference
  +++ run
  +kind: Job
  +metadata:
  +  name: web-*

Probable cause: create is not idempotent: after the lost answer, a second Job was made; give it a
deterministic name or adopt by owner.

Replay it with
  @pytest.mark.replay("crash-during create jobs default/web-*#1")
  pyctrl simulate PROGRAM --replay "crash-during create jobs default/web-*#1"\
"""


def reference() -> Script:
    """Return a run that makes one Job."""
    return Script().user("create", PARENT).begin().write("create", "jobs default/web-a", generate="web-").done()


def twice() -> Script:
    """Return a run that makes two Jobs, because an answer was lost."""
    run = Script("crash-during create jobs default/web-*#1").user("create", PARENT).begin()
    run.write("create", "jobs default/web-b", generate="web-", status=0, has_effect=True).fault().wait(1).restart()
    return run.begin().write("create", "jobs default/web-c", generate="web-").done()


def test_a_story_as_text() -> None:
    """A story has a title, what happened, the difference, the guess, and the line that replays it."""
    problems = [RunProblem(ProblemKind.END_STATE, "there are 2 Jobs default/web-* instead of 1", (), DIFF)]
    story = tell(reference().run(), twice().run(), problems)
    assert str(story) == STORY


def test_a_story_has_ten_lines_at_most() -> None:
    """Repeated entries are one line, and of the others the ten that explain most are kept."""
    run = twice()
    for number in range(30):
        run.begin().write("update", f"configmaps default/c{number}").done("OSError: no")
    for _ in range(30):
        run.begin().write("delete", JOB, status=404, reason="NotFound").done("OSError: yes")
    story = tell(reference().run(), run.run(), [problem(ProblemKind.END_STATE, "jobs default/web-c")])
    assert len(story.events) == 10
    assert any("killed during create" in line for line in story.events)
    seconds = [float(line.split()[0]) for line in story.events]
    assert seconds == sorted(seconds)


def test_repeated_lines_are_joined() -> None:
    """The same write many times is one line with its number and its last time."""
    run = twice()
    for _ in range(30):
        run.begin().write("update", "configmaps default/web").done()
    story = tell(reference().run(), run.run(), [problem(ProblemKind.NOT_QUIET, "configmaps default/web")])
    (line,) = [line for line in story.events if "ConfigMap" in line]
    assert "updates ConfigMap default/web (v14), 30 times until 10.70 s" in line


def test_a_story_says_what_never_happened() -> None:
    """A write of the reference that is missing is the last line, with the place in the source that sends it."""
    whole = Script().user("create", PARENT).begin().write("create", JOB).write("create", "services default/web").done()
    run = Script(f"crash-after create {JOB}#1").user("create", PARENT).begin().write("create", JOB).fault().restart()
    run.begin().done()
    story = tell(whole.run(), run.run(), [problem(ProblemKind.END_STATE, "services default/web")])
    assert story.events[-1].endswith(
        "never: create services default/web, which follows at 0.40 s without the fault  (operator.py:42)".replace(
            "services", "Service"
        )
    )


def rest(script: Script, number: int) -> Script:
    """End a step of the scenario."""
    return script.add(Rested(phase=RestPhase.STEP, number=number))


def test_later_steps_do_not_count() -> None:
    """What comes after the step with the difference is not told, and neither is what a run that was cut leaves out."""
    whole = rest(rest(reference(), 1).begin().write("delete", "jobs default/web-a").done(), 2)
    run = rest(twice(), 1)
    steps = [State(dict(run.objects))]
    rest(run.begin().write("delete", "jobs default/web-b").write("delete", "jobs default/web-c").done(), 2)
    wrong = RunProblem(ProblemKind.END_STATE, "at rest after step 1, the world differs: a Job is surplus")
    first = [State({each: obj for each, obj in steps[0].objects.items() if each.name != "web-c"})]
    story = tell(whole.run(steps=first), run.run(steps=steps), [wrong])
    assert not any("deletes" in line for line in story.events)
    assert story.guess.startswith("create is not idempotent: after the lost answer, a second Job was made")
    cut = tell(whole.run(steps=first), rest(twice(), 1).run(steps=steps, cut_after=1), [problem(ProblemKind.NOT_QUIET)])
    assert not any("never" in line for line in cut.events)


def test_the_worst_problem_is_the_title() -> None:
    """The title is the problem that names best what is wrong; all of them are listed."""
    problems = [
        RunProblem(ProblemKind.NOT_QUIET, "it writes all the time"),
        RunProblem(ProblemKind.FOREIGN, "Job default/web of someone else was deleted"),
    ]
    story = tell(reference().run(), twice().run(), problems)
    assert story.title == "Job default/web of someone else was deleted"
    assert "Problems:\n  Job default/web of someone else was deleted\n  it writes all the time\n" in str(story)


def test_a_failure_without_faults_has_a_story() -> None:
    """A reference that is broken itself is told, too."""
    run = reference().run()
    story = tell(run, run, [RunProblem(ProblemKind.NOT_QUIET, "it writes all the time")])
    assert story.title == "it writes all the time"
    assert story.guess == ""
    assert str(story.schedule) == ""
