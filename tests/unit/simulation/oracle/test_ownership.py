"""Ownership: no object without its owner, none left behind, none of another owner touched."""

from __future__ import annotations

import pytest

from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import ProblemKind, Run
from tests.unit.simulation.oracle._scene import CHILD, PARENT, Scene, create


def test_an_object_without_its_owner_is_an_orphan(reference: Reference) -> None:
    """An object whose owners are all gone is an orphan, also if an object of the owner's name exists."""
    world = Scene(5)
    create(world)
    uid = world.find(PARENT)["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "PodSet", "name": "web", "uid": uid[::-1].replace("-", "0")}
    world.change(CHILD, {"metadata": {"ownerReferences": [owner]}})

    problem = judge(reference, world.run())[0]

    assert problem.kind == ProblemKind.ORPHAN
    assert problem.message == f"{CHILD} is left although its owner PodSet web is gone"


def test_an_object_that_is_left_behind_is_an_orphan() -> None:
    """An object that the operator created and did not delete is an orphan, if the reference leaves none of its name."""

    def run(seed: int, *, deletes: bool) -> Run:
        world = Scene(seed)
        world.create(PARENT, by="user")
        job = world.create("jobs.batch other/web-*")
        world.delete(PARENT, by="user")
        if deletes:
            world.delete(job)
        return world.run()

    reference = Reference([run(0, deletes=True), run(1, deletes=True)])

    assert [each.kind for each in judge(reference, run(2, deletes=False))] == [
        ProblemKind.ORPHAN,
        ProblemKind.END_STATE,
    ]


@pytest.mark.parametrize("deed", ["deleted", "adopted", "changed"])
def test_a_foreign_object_is_left_alone(deed: str, reference: Reference) -> None:
    """An object of another user must not be deleted, adopted or changed; a write without effect is allowed."""
    world = Scene(5)
    create(world)
    world.delete(CHILD, by="user")
    foreign = world.create(CHILD, {"data": {"foreign": "true"}}, by="user")
    uid = world.objects[foreign]["metadata"]["uid"]
    if deed == "deleted":
        world.delete(foreign)
    elif deed == "adopted":
        world.change(foreign, {"metadata": {"ownerReferences": [{"uid": "u", "kind": "PodSet", "name": "web"}]}})
    else:
        world.change(foreign, {"data": {"size": "1"}})

    problem = judge(reference, world.run(foreign={foreign: uid}))[0]

    assert problem.kind == ProblemKind.FOREIGN
    assert problem.message.startswith(f"the operator {deed} {CHILD}, which is not its own")


def test_a_foreign_object_may_stand_in_the_way(reference: Reference) -> None:
    """An operator that waits until the foreign object is gone, and creates its own then, is well."""
    world = Scene(5)
    create(world)
    world.delete(CHILD, by="user")
    foreign = world.create(CHILD, {"data": {"foreign": "true"}}, by="user")
    uid = world.objects[foreign]["metadata"]["uid"]
    world.change(foreign, {"metadata": {"managedFields": None}})
    world.delete(foreign, by="user")
    world.create(CHILD, {"data": {"size": "1", "mode": "fast", "zone": "a"}}, owner=PARENT)

    assert judge(reference, world.run(foreign={foreign: uid})) == []


def test_an_object_of_the_user_is_left_alone(reference: Reference) -> None:
    """An operator that deletes what the user created, and does not without faults, is reported."""
    world = Scene(5)
    create(world)
    world.delete(PARENT)

    assert judge(reference, world.run())[0].message == (
        f"the operator deleted {PARENT}, which the user created; without faults it does not"
    )


def test_the_end_of_a_deletion_is_the_users(reference: Reference) -> None:
    """An object that goes because the operator removes the last finalizer was deleted by the user."""

    def run(seed: int) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"metadata": {"finalizers": ["example.com/done"]}}, by="user")
        world.begin_deletion(PARENT)
        world.release(PARENT, [])
        return world.run()

    def other(seed: int) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"metadata": {"finalizers": ["example.com/done"]}}, by="user")
        world.delete(PARENT, by="user")
        return world.run()

    assert judge(Reference([other(0)]), run(1)) == []
