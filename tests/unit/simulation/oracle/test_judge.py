"""The judgement: what is wrong with a run, and what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyctrl.simulation._history import ObjectId, Sent
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import Problem, ProblemKind, Run
from tests.unit.simulation.oracle._scene import OPERATOR, PARENT, Scene

CHILD = "configmaps default/web"


def create(world: Scene) -> None:
    """Let the user create a parent, and the operator a child with a fixed name and one with a generated name."""
    world.process("started")
    world.create(PARENT, {"spec": {"size": 1}}, by="user")
    world.reconcile()
    world.create(CHILD, {"data": {"size": "1", "mode": "fast", "zone": "a"}}, owner=PARENT)
    world.create("jobs.batch default/web-*", {"spec": {"size": 1}}, owner=PARENT)
    world.change(PARENT, {"status": {"ready": True, "observedGeneration": 1}})
    world.step()


def plain(seed: int) -> Run:
    """Return a run of an operator that makes two children."""
    world = Scene(seed)
    create(world)
    return world.run()


@pytest.fixture
def reference() -> Reference:
    """Return the reference of an operator that makes two children."""
    return Reference([plain(seed) for seed in range(3)])


def only(problems: list[Problem], kind: str) -> Problem:
    """Return the only problem, which has a kind."""
    assert [each.kind for each in problems] == [kind], problems
    return problems[0]


def test_a_run_without_faults_is_well(reference: Reference) -> None:
    """A run with another seed has no problems."""
    assert judge(reference, plain(77)) == []


def test_a_reference_needs_a_run() -> None:
    """A reference without runs is refused."""
    with pytest.raises(ValueError, match="at least one run"):
        Reference([])


# -- end state --------------------------------------------------------------------------------------------------------


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


# -- quiet ------------------------------------------------------------------------------------------------------------


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


# -- ownership --------------------------------------------------------------------------------------------------------


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


# -- finalizers -------------------------------------------------------------------------------------------------------


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


# -- leadership, permissions, errors ----------------------------------------------------------------------------------


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
