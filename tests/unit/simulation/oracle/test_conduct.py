"""Conduct: finalizers, leadership, permissions, and errors that only a mistake raises."""

from __future__ import annotations

import pytest

from pyctrl.simulation._history import ObjectId, Sent
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import ProblemKind, Run
from tests.unit.simulation.oracle._scene import CHILD, OPERATOR, PARENT, Scene, create, only


def bucket(seed: int, *, deletes: bool = True, first: str = "call", is_stuck: bool = False) -> Run:
    """Return a run of an operator that deletes a bucket before, or after, it removes its finalizer."""
    world = Scene(seed)
    world.externals = {"Buckets": {"names": ["web"]}}
    world.create(PARENT, {"metadata": {"finalizers": ["example.com/bucket"]}}, by="user")
    world.begin_deletion(PARENT)
    if first == "call" and deletes:
        world.call("Buckets.delete('web')")
    if not is_stuck:
        world.release(PARENT, [])
    if first != "call" and deletes:
        world.call("Buckets.delete('web')")
    if deletes:
        world.externals["Buckets"]["names"] = []
    return world.run()


def test_a_finalizer_that_is_left_is_reported() -> None:
    """An object that is still being deleted at the end is reported with what it waits for."""
    problems = judge(Reference([bucket(0)]), bucket(1, is_stuck=True))

    assert problems[0].kind == ProblemKind.FINALIZER
    assert problems[0].message == f"{PARENT} is still being deleted; it waits for example.com/bucket"


@pytest.mark.parametrize("run", [bucket(1, deletes=False), bucket(2, first="release")], ids=["never", "later"])
def test_a_finalizer_that_is_gone_too_early_is_reported(run: Run) -> None:
    """A finalizer that was removed before the external work was done is reported, with the call that was missing."""
    problems = judge(Reference([bucket(0)]), run)

    assert problems[0].kind == ProblemKind.FINALIZER
    assert problems[0].message == (
        f"the finalizer example.com/bucket of {PARENT} was removed before Buckets.delete('web') was done"
    )


def test_external_work_that_was_done_in_another_way_is_well() -> None:
    """An operator that finds the bucket gone already need not delete it."""
    world = Scene(1)
    world.externals = {"Buckets": {"names": []}}
    world.create(PARENT, {"metadata": {"finalizers": ["example.com/bucket"]}}, by="user")
    world.begin_deletion(PARENT)
    world.release(PARENT, [])

    assert judge(Reference([bucket(0)]), world.run()) == []


def test_calls_for_other_objects_do_not_count() -> None:
    """A call for another object, or for the next one of the name, is not what the finalizer waits for."""

    def make(seed: int, *, is_late: bool) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"metadata": {"finalizers": ["example.com/bucket"]}}, by="user")
        world.begin_deletion(PARENT)
        if not is_late:
            world.call("Buckets.list()", request="default/other")
            world.call("Buckets.find('web')")
        world.release(PARENT, [])
        if is_late:
            world.call("Buckets.list()", request="default/other")
        world.create(PARENT, by="user")
        world.call("Buckets.find('web')")
        return world.run()

    assert judge(Reference([make(0, is_late=False)]), make(1, is_late=True)) == []


def test_a_restored_child_is_the_operators() -> None:
    """A child that a restored backup brought back was not created by the user."""

    def make(seed: int, *, restores: bool) -> Run:
        world = Scene(seed, "restore-backup step#1" if restores else "")
        world.create(PARENT, by="user")
        child = world.create(CHILD, owner=PARENT)
        obj = world.find(CHILD)
        world.delete(PARENT, by="user")
        if restores:
            world.delete(child, by="user")
            world.restore(child, obj)
            world.delete(child)
        else:
            world.delete(child, by="")
        return world.run()

    assert judge(Reference([make(0, restores=False)]), make(1, restores=True)) == []


@pytest.mark.parametrize(
    ("leads", "has_effect", "kinds"),
    [(False, True, [ProblemKind.NOT_LEADING]), (False, False, []), (True, True, []), (None, True, [])],
)
def test_a_write_without_leadership(
    leads: bool | None, has_effect: bool, kinds: list[str], reference: Reference
) -> None:
    """A write that had an effect, of a replica that did not hold the Lease, is reported with its line."""
    world = Scene(5)
    create(world)
    target = ObjectId.parse(CHILD)
    world.note(Sent(process=OPERATOR, verb="update", target=target, has_effect=has_effect, leads=leads, line="a.py:7"))

    problems = judge(reference, world.run())

    assert [each.kind for each in problems] == kinds
    assert all(each.message == f"{OPERATOR} did not lead when it sent update {CHILD} at a.py:7" for each in problems)


def test_what_the_run_reports_is_passed_on(reference: Reference) -> None:
    """Accesses outside of the role and broken invariants become problems, each once."""
    world = Scene(5)
    create(world)
    run = world.run(undeclared=("delete pods", "delete pods"), custom=(("one primary", "there are 2"), ("x", "")))

    assert [(each.kind, each.message) for each in judge(reference, run)] == [
        (ProblemKind.UNDECLARED, "the declared role of the operator does not allow it to delete pods"),
        (ProblemKind.INVARIANT, "one primary: there are 2"),
        (ProblemKind.INVARIANT, "x"),
    ]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("Deadlock: nothing is left to wait for", ProblemKind.HANGS),
        ("NotFound: gone", ProblemKind.SCENARIO),
        ("Spinning: the operator does not come to rest", ProblemKind.NOT_QUIET),
    ],
)
def test_a_run_that_did_not_end_is_not_compared(error: str, kind: str, reference: Reference) -> None:
    """A scenario that failed is the problem; the state that it left is not."""
    world = Scene(5)

    assert error.partition(": ")[2] in only(judge(reference, world.run(error=error)), kind).message


@pytest.mark.parametrize(
    ("error", "is_defect"),
    [
        ("KeyError: 'size'", True),
        ("TypeError: 'NoneType' object is not subscriptable", True),
        ("InvalidResult: expected a Result", True),
        ("Conflict: the object has been modified", False),
        ("ExternalError: Buckets.create failed (simulation)", False),
        ("BucketsAreAway: try again", False),
        ("StreamBroken: simulation: answer lost", False),
    ],
)
def test_mistakes_are_told_from_consequences(error: str, is_defect: bool, reference: Reference) -> None:
    """An error that only a mistake raises is a defect; one that a fault causes, or the operator's own, is not."""
    world = Scene(5)
    create(world)
    world.reconcile(error=error)
    world.log(error)
    world.reconcile()

    problems = judge(reference, world.run())

    assert [each.message for each in problems] == ([f"the operator raised {error}"] if is_defect else [])


def test_an_error_of_the_reference_is_no_defect() -> None:
    """An error that the operator raises without faults too is not a consequence of the schedule."""

    def run(seed: int) -> Run:
        world = Scene(seed)
        pod = world.create("pods default/web-*", by="user")
        world.log(f"ValueError: {pod.name} has no address")
        return world.run()

    assert judge(Reference([run(0)]), run(1)) == []


@pytest.mark.parametrize(
    ("state", "text", "is_defect"),
    [
        ("failed", "RuntimeError: no configuration", True),
        ("failed", "ServiceUnavailable: try again", False),
        ("ended", "", True),
        ("ended", "the lease was lost", False),
        ("killed", "", False),
    ],
)
def test_a_process_that_ends(state: str, text: str, is_defect: bool, reference: Reference) -> None:
    """A process that ends by itself is a defect, unless it lost its Lease or could not reach the server."""
    world = Scene(5)
    create(world)
    world.process(state, text)
    world.process("started")

    assert [each.kind for each in judge(reference, world.run())] == [ProblemKind.DEFECT] * is_defect
