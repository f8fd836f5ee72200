"""The reference: what differs between runs without faults does not count."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import Run
from tests.unit.simulation.oracle._scene import PARENT, Json, Scene

SEEDS = range(3)
SECRET = "secrets default/web"


def runs(make: Callable[[int], Run]) -> Reference:
    """Return the reference of three seeds."""
    return Reference([make(seed) for seed in SEEDS])


def run_of(seed: int, spec: Json, target: str = PARENT) -> Run:
    """Return a run that ends with one object."""
    world = Scene(seed)
    world.create(target, {"spec": spec})
    return world.run()


def test_a_value_that_differs_does_not_count() -> None:
    """A random value, also in a list, is not compared; what is beside it is."""

    def make(seed: int, size: int = 1) -> Run:
        password = f"p{Random(seed).random()}"
        return run_of(seed, {"password": password, "users": [{"name": "a", "key": password}], "size": size})

    reference = runs(make)

    assert judge(reference, make(7)) == []
    assert [line for line in judge(reference, make(7, size=2))[0].diff.splitlines() if line[:3] in ("-  ", "+  ")] == [
        "-  size: 1",
        "+  size: 2",
    ]


def test_a_field_that_is_not_always_there_does_not_count() -> None:
    """A field that some runs have, and others do not, is not compared."""

    def make(seed: int) -> Run:
        return run_of(seed, {"size": 1} if seed % 2 else {"size": 1, "hint": "x"})

    assert judge(runs(make), make(7)) == judge(runs(make), make(8)) == []


def test_a_list_in_any_order() -> None:
    """A list whose order differs between runs is compared as a multiset."""

    def make(seed: int, *more: str) -> Run:
        members = ["a", "b", "c", *more]
        Random(seed).shuffle(members)
        return run_of(seed, {"members": members})

    reference = runs(make)

    assert judge(reference, make(7)) == []
    assert judge(reference, make(7, "c")) != []


def test_names_that_the_operator_draws_are_learned() -> None:
    """Objects that the operator names with a random part are matched like those whose names the server generates."""

    def make(seed: int, children: int = 2) -> Run:
        world = Scene(seed)
        world.create(PARENT, by="user")
        names = [f"web-{Random(f'{seed}/{n}').getrandbits(32):08x}" for n in range(children)]
        for name in names:
            world.create(f"jobs.batch default/{name}", {"spec": {"size": 1}}, owner=PARENT)
            world.create(f"configmaps default/{name}-config", {"data": {"job": name}}, owner=PARENT)
        world.change(PARENT, {"status": {"jobs": sorted(names)}})
        return world.run()

    reference = runs(make)

    assert judge(reference, make(7)) == []
    (problem,) = judge(reference, make(7, children=3))
    assert "surplus" in problem.diff
    assert {each.resource for each in problem.objects} == {"jobs.batch", "configmaps", "podsets.example.com"}


def test_objects_that_come_and_go_are_not_compared() -> None:
    """Objects of which the reference has now more, now fewer, do not count; the others do."""

    def make(seed: int, size: int = 1) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"spec": {"size": size}})
        for _ in range(seed % 3):
            world.create("jobs.batch default/web-*", {"spec": {"n": seed}})
        return world.run()

    reference = runs(make)

    assert reference.unstable == {ObjectId.parse("jobs.batch default/web-*")}
    assert judge(reference, make(11)) == []
    assert judge(reference, make(11, size=2)) != []


def test_what_moves_in_the_time_of_quiet_does_not_count() -> None:
    """A counter that goes on, and Jobs that a schedule makes, are not compared, although the references agree."""

    def make(seed: int, ticks: int = 3) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"spec": {"size": 1}}, by="user")
        world.quiet()
        for tick in range(ticks):
            world.change(PARENT, {"status": {"ticks": tick}})
            world.create(f"jobs.batch default/web-{29000000 + tick}", owner=PARENT)
        return world.run()

    reference = runs(make)

    assert judge(reference, make(7, ticks=4)) == []
    assert reference.unstable == {ObjectId.parse("jobs.batch default/web-*")}


def test_one_run_is_enough() -> None:
    """With one run, what is known to differ does not count."""

    def make(seed: int) -> Run:
        world = Scene(seed)
        world.create(SECRET, {"data": {"at": f"2026-01-01T00:00:{seed:02}Z", "size": "1"}})
        return world.run()

    assert judge(Reference([make(0)]), make(7)) == []


@pytest.mark.parametrize("seed", range(10))
def test_every_reference_run_is_well(seed: int) -> None:
    """Whatever differs between the runs of a reference, none of them has a problem."""

    def make(number: int) -> Run:
        random = Random(f"{seed}/{number}")
        world = Scene(number)
        world.create(PARENT, by="user")
        for _ in range(random.randrange(4)):
            spec = {random.choice("abc"): random.choice([1, "x", [1, 2], [2, 1], {"d": random.random()}])}
            world.create(
                random.choice(["pods default/web-*", f"pods default/p{random.randrange(3)}x*"]), {"spec": spec}
            )
        return world.run()

    made = [make(number) for number in SEEDS]
    reference = Reference(made)

    assert [judge(reference, run) for run in made] == [[], [], []]


def test_fingerprints_do_not_count_what_was_learned() -> None:
    """The fingerprint of a reference is equal for states that differ in what does not count."""

    def make(seed: int, size: int = 1) -> Run:
        world = Scene(seed)
        world.create(PARENT, {"spec": {"password": f"p{seed}", "size": size}})
        world.step()
        return world.run()

    reference = runs(make)

    assert reference.fingerprint(make(7).steps[0]) == reference.fingerprint(make(8).end)
    assert reference.fingerprint(make(7, size=2).end) != reference.fingerprint(make(8).end)


def schedule(seed: int, runs: int, *, started_after: float = 60.0, jump: str = "") -> Run:
    """Return a run of an operator that starts a Job for each run of a schedule, until it is suspended."""
    world = Scene(seed, jump)
    world.create(PARENT, by="user")
    for number in range(runs):
        world.wait(started_after)
        job = world.create(f"jobs.batch default/web-{1767225600 + 60 * number}", owner=PARENT)
        world.create(f"pods default/{job.name}-*", {"spec": {"args": [job.name]}}, by="")
    world.change(PARENT, {"spec": {"suspend": True}}, by="user")
    return world.run()


def test_the_runs_of_a_schedule_are_not_counted() -> None:
    """How many Jobs a schedule has started depends on how long a run takes, not on its faults."""
    reference = runs(lambda seed: schedule(seed, 3))

    assert judge(reference, schedule(7, 5)) == []


def test_a_name_made_of_the_time_is_no_schedule() -> None:
    """A Job that is named by the time, and created as soon as a user asks for it, must be there once."""
    reference = runs(lambda seed: schedule(seed, 1, started_after=1))

    assert judge(reference, schedule(7, 2, started_after=1)) != []


def test_a_jump_of_the_clock_excuses_the_runs_of_a_schedule() -> None:
    """A schedule that is due because the clock jumped starts a Job that there is not without faults."""
    reference = runs(lambda seed: schedule(seed, 0))
    jump = "jump-clock step#1 by 86400"

    assert judge(reference, schedule(7, 1, started_after=1, jump=jump)) == []
    assert judge(reference, schedule(7, 1, started_after=1)) != []
