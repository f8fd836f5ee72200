"""Excuses: what faults allow a correct operator to do, and what they do not."""

from __future__ import annotations

import pytest

from pyctrl.simulation._history import ObjectId, Reconciled, Sent
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._oracle.excuses import is_honest_failure, is_programming_error, lasts_until
from pyctrl.simulation._run import ProblemKind, Run
from tests.unit.simulation.oracle._scene import PARENT, Json, Scene

CHILD = "configmaps default/web"


def run_of(schedule: str, *, quiet_after: float, seed: int = 5) -> Run:
    """Return a run whose faults begin at its begin, and whose operator calls an external system some seconds later."""
    world = Scene(seed, schedule)
    world.create(PARENT, by="user")
    world.quiet()
    world.wait(quiet_after)
    world.call("Dns.put('web')")
    return world.run()


@pytest.mark.parametrize(
    ("schedule", "seconds", "is_excused"),
    [
        ("delay event configmaps default/web ADDED#1 by 40", 30, True),
        ("delay event configmaps default/web ADDED#1 by 20", 70, False),
        ("stale reconcile podset default/web#1 by 40", 30, True),
        ("hide event configmaps default/web ADDED#1", 50, True),
        ("time-travel step#1", 15, True),
        ("time-travel step#1", 70, False),
        ("jump-clock step#1 by 86400", 70, False),
        ("delete-child step#1 by configmaps default/web", 70, False),
    ],
)
def test_what_a_fault_held_back_may_be_done_in_the_time_of_quiet(
    schedule: str, seconds: float, is_excused: bool
) -> None:
    """The time of quiet does not begin before the last fault is over, and what it held back was handled."""
    world = Scene()
    world.create(PARENT, by="user")
    problems = judge(Reference([world.run()]), run_of(schedule, quiet_after=seconds))

    assert [each.kind for each in problems] == [ProblemKind.NOT_QUIET] * (not is_excused)


def test_faults_last() -> None:
    """The end of the last fault counts that began before a time."""
    world = Scene(0, "delay event configmaps default/web ADDED#1 by 40; freeze create configmaps default/web#1 by 10")
    run = world.run()
    begun = [entry.at for entry in run.history][:2]

    assert lasts_until(run) == begun[0] + 40
    assert lasts_until(run, begun[0] - 0.01) == 0.0
    assert lasts_until(Scene().run()) == 0.0


def replaced(*, by: str, heals: bool = False, status: Json | None = None) -> Run:
    """Return a run in which a foreign object takes the name of a child for a while."""
    world = Scene(5, f"replace-child step#1 by {CHILD}")
    world.create(PARENT, by="user")
    world.create(CHILD, {"data": {"a": "1"}}, owner=PARENT)
    world.delete(CHILD, by="user")
    foreign = world.create(CHILD, {"data": {"a": "1"}}, by="user")
    uid = world.objects[foreign]["metadata"]["uid"]
    world.step()
    world.delete(foreign, by=by)
    if heals:
        world.create(CHILD, {"data": {"a": "1"}}, owner=PARENT)
    if status:
        world.change(PARENT, {"status": status})
    return world.run(foreign={foreign: uid})


def test_a_child_whose_name_was_taken_may_be_missing() -> None:
    """An operator need not notice that a foreign object has gone; if it does, all must be as without faults."""
    world = Scene()
    world.create(PARENT, by="user")
    world.create(CHILD, {"data": {"a": "1"}}, owner=PARENT)
    world.step()
    reference = Reference([world.run()])

    assert judge(reference, replaced(by="user")) == []
    assert judge(reference, replaced(by="user", heals=True)) == []
    assert [each.kind for each in judge(reference, replaced(by="user", heals=True, status={"lost": True}))] == [
        ProblemKind.END_STATE
    ]
    assert [each.kind for each in judge(reference, replaced(by="operator-1"))] == [ProblemKind.FOREIGN]


def test_a_run_that_was_cut_short_is_compared_with_its_last_step() -> None:
    """A run that ended after its first step must be as the reference was then."""

    def make(seed: int, *, steps: int, size: int = 1) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"metadata": {"finalizers": ["example.com/done"]}}, by="user")
        world.create(CHILD, {"data": {"size": str(size)}}, owner=PARENT)
        world.begin_deletion(PARENT)  # the user keeps it so for a while
        world.step()
        if steps == 2:
            world.delete(CHILD)
            world.release(PARENT, [])
            world.step()
        return world.run(cut_after=steps % 2)

    reference = Reference([make(0, steps=2), make(1, steps=2)])

    assert judge(reference, make(5, steps=1)) == []
    (problem,) = judge(reference, make(5, steps=1, size=2))
    assert problem.kind == ProblemKind.END_STATE
    assert problem.objects == (ObjectId.parse(CHILD),)


@pytest.mark.parametrize("result", ["done", "requeue after 30 s"])
def test_a_timed_operator_may_go_on_in_a_run_that_was_cut_short(result: str) -> None:
    """What an operator that runs again later does in the middle of a scenario is not held against it."""

    def make(seed: int, *, is_cut: bool) -> Run:
        world = Scene(seed)
        world.create(PARENT, by="user")
        world.reconcile(result=result)
        world.step()
        if is_cut:
            world.quiet()
            world.wait(20)
            world.call("Dns.get('web')")
        return world.run(cut_after=int(is_cut))

    problems = judge(Reference([make(0, is_cut=False)]), make(5, is_cut=True))

    assert [each.kind for each in problems] == [ProblemKind.NOT_QUIET] * (result == "done")


@pytest.mark.parametrize(("schedule", "wait"), [("", 1), ("restore-backup step#1", 1), ("restore-backup step#1", 20)])
def test_a_lease_that_went_back_excuses_a_write(schedule: str, wait: float) -> None:
    """A replica that led when a backup was restored may write until it has read the Lease again."""
    world = Scene(0, schedule)
    world.wait(wait)
    sent = Sent(process="operator-1", verb="update", target=ObjectId.parse(CHILD), has_effect=True, leads=False)
    world.note(sent)

    is_excused = bool(schedule) and wait < 15

    assert [each.kind for each in judge(Reference([Scene().run()]), world.run())] == (
        [] if is_excused else [ProblemKind.NOT_LEADING]
    )


def test_a_retry_that_waits_excuses_what_is_left() -> None:
    """A reconcile that waits for its retry may still remove a finalizer, and delete an object that is left."""

    def make(seed: int, error: str) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"metadata": {"finalizers": ["example.com/done"]}}, by="user")
        world.create(CHILD)
        world.begin_deletion(PARENT)
        world.reconcile(error=error)
        if not error:
            world.delete(CHILD)
            world.release(PARENT, [])
        world.faults_over()
        return world.run()

    assert judge(Reference([make(0, "")]), make(1, "Conflict: try again")) == []


def test_a_retry_dies_with_its_process() -> None:
    """A process that starts again reconciles all objects, so that no retry waits."""
    world = Scene(5)
    world.create(PARENT, by="user")
    world.reconcile(error="Conflict: try again")
    world.process("killed")
    world.process("started")
    world.create(CHILD)
    world.faults_over()
    reference = Scene()
    reference.create(PARENT, by="user")

    assert judge(Reference([reference.run()]), world.run()) != []


def test_an_object_that_fails_without_faults_excuses_nothing() -> None:
    """A reconcile that fails in the reference too, because the user asked for what cannot be, waits for no retry."""

    def make(seed: int, *, is_faulty: bool = False) -> Run:
        world = Scene(seed)
        world.create(PARENT, by="user")
        world.create(CHILD, {"data": {"size": "2" if is_faulty else "1"}}, owner=PARENT)
        pod = world.create("pods default/web-*", by="user")
        world.reconcile(f"default/{pod.name}", error="Invalid: the size is negative")
        world.faults_over()
        return world.run()

    problems = judge(Reference([make(0), make(1)]), make(5, is_faulty=True))

    assert [each.kind for each in problems] == [ProblemKind.END_STATE]


def timed(seed: int, *, step_takes: float, phase: str, ends_as: str = "Approved") -> Run:
    """Return a run of an operator that looks again after half an hour, and is asked for something else meanwhile."""
    world = Scene(seed)
    world.process("started")
    world.create(PARENT, by="user")
    world.reconcile(result="requeue after 1800 s")
    world.wait(step_takes)
    world.change(PARENT, {"status": {"phase": phase}})
    world.step()
    world.change(PARENT, {"status": {"phase": ends_as}})
    return world.run()


def test_a_step_that_took_longer_than_a_timer_is_not_judged() -> None:
    """What an operator does because time has passed, at a step where the reference went on at once, does not count."""
    reference = Reference([timed(seed, step_takes=1, phase="Pending") for seed in range(2)])

    assert judge(reference, timed(5, step_takes=3600, phase="Expired")) == []
    assert [each.kind for each in judge(reference, timed(5, step_takes=60, phase="Expired"))] == [ProblemKind.END_STATE]


def test_the_end_of_a_timed_operator_is_judged() -> None:
    """At the end of the scenario the reference waits as well."""
    reference = Reference([timed(seed, step_takes=1, phase="Pending") for seed in range(2)])
    run = timed(5, step_takes=1, phase="Pending", ends_as="Expired")
    run.history.of(Reconciled)[0].result = "requeue after 20 s"

    assert [each.kind for each in judge(reference, run)] == [ProblemKind.END_STATE]


def test_names_of_errors_are_read_as_they_are_printed() -> None:
    """The name of an error may have a module, and a message or none."""
    assert is_programming_error("KeyError: 'a'")
    assert is_programming_error("KeyError")
    assert is_programming_error("pydantic_core._pydantic_core.ValidationError: 1 error")
    assert not is_programming_error("MyKeyError: 'a'")
    assert is_honest_failure("LeadershipLost: the lease was lost")
    assert is_honest_failure("pyctrl.errors.ConnectionFailed: no connection")
    assert not is_honest_failure("")
