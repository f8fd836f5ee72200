"""End state: the world at rest after each step and at the end must be as without faults."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import ProblemKind, Run
from tests.unit.simulation.oracle._scene import CHILD, PARENT, Scene, create, only, plain


def test_a_changed_object_is_shown_as_a_diff(reference: Reference) -> None:
    """An object with another field is reported with the lines that differ, and a few around them."""
    world = Scene(5)
    create(world)
    world.change(CHILD, {"data": {"size": "2"}})

    problem = only(judge(reference, world.run()), ProblemKind.END_STATE)

    assert problem.message == f"at the end, the world differs from the reference: {CHILD} is different"
    assert problem.objects == (ObjectId.parse(CHILD),)
    assert problem.diff.splitlines()[:3] == [
        "--- configmaps default/web  (reference)",
        "+++ configmaps default/web  (this run)",
        "@@",
    ]
    assert "-  size: '1'\n+  size: '2'\n" in problem.diff
    assert "uid" not in problem.diff


def test_a_second_generated_object_is_surplus(reference: Reference) -> None:
    """One child too many, with a generated name, is reported in one line."""
    world = Scene(5)
    create(world)
    second = world.create("jobs.batch default/web-*", {"spec": {"size": 1}}, owner=PARENT)

    problem = only(judge(reference, world.run()), ProblemKind.END_STATE)

    (line,) = problem.diff.splitlines()
    assert line.startswith("+ jobs.batch default/web-")
    assert line.endswith("(surplus)")
    assert second.resource in problem.message


def test_a_missing_object_is_one_line(reference: Reference) -> None:
    """A child that is missing is reported by its canonical name."""
    world = Scene(5)
    create(world)
    world.delete(next(each for each in world.objects if each.resource == "jobs.batch"))

    problem = only(judge(reference, world.run()), ProblemKind.END_STATE)

    assert problem.diff == "- jobs.batch default/web-*  (missing)"


def test_generated_objects_are_matched_by_content() -> None:
    """Of several objects with generated names, the one that differs is compared with the most similar one."""

    def run(seed: int, sizes: tuple[int, ...]) -> Run:
        world = Scene(seed)
        world.create(PARENT, by="user")
        for size in sizes:
            world.create("jobs.batch default/web-*", {"spec": {"size": size, "name": f"n{size}"}}, owner=PARENT)
        return world.run()

    reference = Reference([run(0, (1, 2, 3)), run(1, (3, 1, 2))])
    assert judge(reference, run(2, (2, 3, 1))) == []

    problem = only(judge(reference, run(3, (3, 4, 1))), ProblemKind.END_STATE)

    assert [line for line in problem.diff.splitlines() if line[0] in "-+" and line[1] == " "] == [
        "-  name: n2",
        "-  size: 2",
        "+  name: n4",
        "+  size: 4",
    ]


def test_a_difference_that_a_later_step_removes_is_found() -> None:
    """A second child that is garbage at the end, because the scenario deletes the parent, is found at its step."""

    def run(seed: int, children: int) -> Run:
        world = Scene(seed)
        world.process("started")
        world.create(PARENT, by="user")
        jobs = [world.create("jobs.batch default/web-*", owner=PARENT) for _ in range(children)]
        world.step()
        world.delete(PARENT, by="user")
        for job in jobs:
            world.delete(job, by="")
        world.step()
        return world.run()

    problem = only(judge(Reference([run(0, 1), run(1, 1)]), run(2, 2)), ProblemKind.END_STATE)

    assert problem.message.startswith("at rest after step 1, ")


@pytest.mark.parametrize(
    ("schedule", "act"),
    [
        ("", lambda world: world.process("killed")),
        ("", lambda world: world.reconcile(error="Conflict: try again")),
        ("delay event configmaps default/web ADDED#1 by 60", lambda _: None),
        ("hide event configmaps default/web ADDED#1", lambda _: None),
    ],
    ids=["a process is down", "a retry waits", "a fault lasts", "an event is hidden"],
)
def test_a_step_with_work_left_is_not_judged(schedule: str, act: Callable[[Scene], None], reference: Reference) -> None:
    """A step that ended while a fault lasted, or while work was left, may differ if the end does not."""
    world = Scene(5, schedule)
    world.process("started")
    world.create(PARENT, {"spec": {"size": 1}}, by="user")
    act(world)
    world.step()
    create(world)  # again, as what comes later

    run = world.run()
    run.steps[1:] = run.steps[:0]
    run.end = plain(0).end

    assert [each for each in judge(reference, run) if each.kind == ProblemKind.END_STATE] == []


def test_externals_are_compared() -> None:
    """An external system in another state is reported like an object."""

    def run(seed: int, names: list[str]) -> Run:
        world = Scene(seed)
        world.externals = {"Buckets": {"names": names}}
        return world.run()

    problem = only(judge(Reference([run(0, ["a"])]), run(1, ["a", "b"])), ProblemKind.END_STATE)

    assert "external Buckets has another state" in problem.message
    assert "+- b" in problem.diff


def test_a_restored_backup_excuses_external_systems() -> None:
    """What the server forgot cannot be found in the external system any more."""

    def run(seed: int, names: list[str], schedule: str = "") -> Run:
        world = Scene(seed, schedule)
        world.externals = {"Buckets": {"names": names}}
        return world.run()

    assert judge(Reference([run(0, ["a"])]), run(1, ["a", "b"], "restore-backup step#1")) == []


def test_a_retry_that_waits_excuses_the_end(reference: Reference) -> None:
    """A reconcile that failed during the faults and was not tried again since leaves work that is not judged."""
    world = Scene(5)
    create(world)
    world.change(CHILD, {"data": {"size": "2"}})
    world.reconcile(error="AlreadyOwned: another controller owns it")
    world.faults_over()
    assert judge(reference, world.run()) == []

    world = Scene(5)
    create(world)
    world.change(CHILD, {"data": {"size": "2"}})
    world.faults_over()
    world.reconcile(error="AlreadyOwned: another controller owns it")
    assert [each.kind for each in judge(reference, world.run())] == [ProblemKind.END_STATE]


def test_what_no_run_touched_is_not_compared(reference: Reference) -> None:
    """The furniture of the cluster appears in a state as soon as something changed in its resource."""
    world = Scene(5)
    create(world)
    run = world.run()
    furniture = {"kind": "Secret", "metadata": {"name": "furniture", "namespace": "default", "uid": "x"}}
    run.end.objects[ObjectId.parse("secrets default/furniture")] = furniture  # type: ignore[index]

    assert judge(reference, run) == []
