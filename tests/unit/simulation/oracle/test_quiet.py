"""Time of quiet: an operator that is done does nothing that it does not do without faults."""

from __future__ import annotations

from pyctrl.simulation._history import ObjectId, Sent
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import ProblemKind, Run
from tests.unit.simulation.oracle._scene import CHILD, OPERATOR, PARENT, Scene, create, only


def test_a_write_in_the_time_of_quiet(reference: Reference) -> None:
    """A write after all is done is reported, with its object."""
    world = Scene(5)
    create(world)
    world.quiet()
    world.change(PARENT, {"metadata": {"annotations": {"seen": "now"}}})
    world.change(PARENT, {"metadata": {"annotations": None}})

    problem = only(judge(reference, world.run()), ProblemKind.NOT_QUIET)

    assert problem.message == (
        f"the operator still writes when all is done: update {PARENT}, 2 times in 60 s; in the reference 0 times"
    )


def periodic(seed: int, every: float, *, until: float = 60.0) -> Run:
    """Return a run of an operator that looks at an external system, and notes the time in its status."""
    world = Scene(seed)
    create(world)
    world.quiet()
    at = 0.0
    while (at := at + every) < until:
        world.wait(every - 0.7)
        world.reconcile()
        world.call("Buckets.list()")
        world.change(PARENT, {"status": {"lastCheck": f"check {seed} {at}"}})
    return world.run()


def test_a_periodic_operator_may_go_on() -> None:
    """An operator that writes and calls every ten seconds without faults may do so with faults."""
    reference = Reference([periodic(seed, 10) for seed in range(2)])

    assert judge(reference, periodic(5, 10)) == []
    assert judge(reference, periodic(6, 9)) == []


def test_a_periodic_operator_may_not_run_faster() -> None:
    """An operator that writes and calls more often than without faults is reported for each."""
    reference = Reference([periodic(seed, 10) for seed in range(2)])

    messages = [each.message for each in judge(reference, periodic(5, 2))]

    assert len(messages) == 3
    assert "still writes" in messages[0]
    assert "a reconcile does not stop" in messages[2]
    assert "still calls an external system when all is done: Buckets.list, 29 times in 60 s" in messages[1]


def test_reconciles_of_generated_objects_are_compared() -> None:
    """The reconciles of an object with a generated name are compared with those of its like in the reference."""

    def run(seed: int) -> Run:
        world = Scene(seed)
        pod = world.create("pods default/web-*", by="user")
        world.quiet()
        for _ in range(30):
            world.wait(1.5)
            world.reconcile(f"default/{pod.name}", error="Conflict: try again")
        return world.run()

    assert judge(Reference([run(0)]), run(1)) == []


def test_a_hot_loop_is_reported(reference: Reference) -> None:
    """Reconciles and requests without effect are bounded by what the back-off of one failing object costs."""

    def run(times: int) -> Run:
        world = Scene(5)
        create(world)
        world.quiet()
        for _ in range(times):
            world.reconcile()
            sent = Sent(process=OPERATOR, verb="patch", target=ObjectId.parse(PARENT), status=200)
            world.note(sent)
        return world.run()

    assert judge(reference, run(20)) == []
    messages = [each.message for each in judge(reference, run(25))]
    assert messages[0].startswith("a reconcile does not stop when all is done: podset default/web, 25 times in 60 s")
    assert messages[1].startswith(
        "requests do not stop when all is done: patch podsets.example.com without effect, 25 times in 60 s"
    )


def test_a_late_retry_is_no_disturbance(reference: Reference) -> None:
    """The first success of a reconcile that failed before may still write in the time of quiet."""
    world = Scene(5)
    create(world)
    world.delete(CHILD, by="user")
    world.reconcile(error="Conflict: try again")
    world.quiet()
    child = world.create(CHILD, {"data": {"size": "1", "mode": "fast", "zone": "a"}}, owner=PARENT)
    run = world.run()
    for entry in run.history.of(Sent):
        if entry.target == child:
            entry.reconcile = "podset default/web"

    assert judge(reference, run) == []


def test_a_reconcile_that_still_fails(reference: Reference) -> None:
    """A reconcile that fails in the time of quiet, and does not without faults, is reported with its error."""
    world = Scene(5)
    create(world)
    world.quiet()
    world.reconcile(error="Conflict: try again")

    problem = only(judge(reference, world.run()), ProblemKind.NOT_QUIET)

    assert problem.message.endswith("podset default/web still fails when the faults are over: Conflict: try again")


def test_a_world_that_does_not_come_to_rest(reference: Reference) -> None:
    """A world that was given up waiting for is reported."""
    world = Scene(5)
    create(world)
    world.quiet(is_quiet=False)

    assert "does not come to rest" in only(judge(reference, world.run()), ProblemKind.NOT_QUIET).message
