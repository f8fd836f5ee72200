"""Search for schedules of several faults."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from pyctrl.simulation._plans import systematic
from pyctrl.simulation._report import Plan, RunOutcome
from pyctrl.simulation._run import ProblemKind, RunProblem
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Schedule
from pyctrl.simulation._search import LONGEST, PAIRS_FIRST, Search
from tests.unit.simulation._runs import created, obj_of, run_of

PROBLEM = RunProblem(ProblemKind.NOT_QUIET, "")

STEPS = 20
POINTS = [
    text
    for n in range(1, STEPS + 1)
    for text in (
        f"create pods default/p{n}#1",
        f"event pods default/p{n} ADDED#1",
        f"reconcile web default/w#{n}",
        f"step#{n}",
    )
]
REFERENCE = run_of(
    POINTS,
    created("pods default/p1", "pod", by="operator-1"),
    steps=[{"pods default/p1": obj_of("pod")}] * STEPS,
)
PLANS = systematic(REFERENCE)
FAMILIES = {(fault.kind, fault.point.occasion): plan.family for plan in PLANS for fault in plan.schedule}
PLACE = {point: place for place, point in enumerate(REFERENCE.points)}


def family(fault: Fault) -> str:
    """Return the family of a fault."""
    return FAMILIES[fault.kind, fault.point.occasion]


def place(fault: Fault) -> int:
    """Return the place of a fault's point in the reference; the end, if it is not there."""
    return PLACE.get(fault.point, len(PLACE))


def proposed(search: Search, count: int, outcome: RunOutcome | None = None) -> list[Schedule]:
    """Return the schedules of some proposals, each with the same outcome."""
    found = []
    for _ in range(count):
        plan = search.propose()
        assert plan.family == "random"
        found.append(plan.schedule)
        search.learn(plan, outcome or RunOutcome())
    return found


def test_same_seed() -> None:
    """The same seed and outcomes give the same proposals; another seed others; none is proposed twice."""
    first, again, other = (
        proposed(Search(REFERENCE, PLANS, seed=seed), 600, RunOutcome(fingerprints=frozenset("a")))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert len(set(first)) == len(first)
    assert not set(first) & {plan.schedule for plan in PLANS}


def test_first_proposals() -> None:
    """A user meddles while the operator is down, and then the order of tasks is drawn, without a fault."""
    first = proposed(Search(REFERENCE, PLANS, seed=1), 80)
    meddling = [each for each in first if any(family(fault) == "meddling" for fault in each)]
    assert str(meddling[0]) == "crash step#1; delete-child step#1 by pods default/p1"
    assert any(each.shuffle and each.seed and not each.faults for each in first)


def test_pairs() -> None:
    """Then come pairs of faults of unlike families, mostly near each other, in the order of their points."""
    pairs = [each.faults for each in proposed(Search(REFERENCE, PLANS, seed=1), PAIRS_FIRST) if each.faults]
    assert {len(pair) for pair in pairs} == {2}
    unlike = [pair for pair in pairs if family(pair[0]) != family(pair[1])]
    assert len(unlike) > 0.95 * len(pairs)
    distances = [place(second) - place(first) for first, second in pairs]
    assert min(distances) >= 0
    assert median(distances) < 30
    assert {family(fault) for pair in pairs for fault in pair} == set(FAMILIES.values())


def test_next_repetition() -> None:
    """The second fault is often at the next repetition of something that the reference did before the first."""
    pairs = [each.faults for each in proposed(Search(REFERENCE, PLANS, seed=1), PAIRS_FIRST) if each.faults]
    beyond = [fault for pair in pairs for fault in pair if fault.point not in PLACE]
    assert len(beyond) > 0.1 * len(pairs)
    assert {fault.point.nth for fault in beyond if fault.point.occasion is Occasion.WRITE} == {2}
    assert not any(fault.point.occasion is Occasion.STEP for fault in beyond)


def test_longer() -> None:
    """Later, schedules get longer, up to a limit."""
    later = proposed(Search(REFERENCE, PLANS, seed=1), PAIRS_FIRST + 200)[PAIRS_FIRST:]
    assert max(len(each) for each in later) == LONGEST
    for schedule in later:
        assert all(place(a) <= place(b) for a, b in pairwise(schedule.faults))


def test_what_showed_something_new_is_changed() -> None:
    """A schedule that showed a new state is changed often; one that showed nothing is not."""
    search = Search(REFERENCE, PLANS, seed=1)
    proposed(search, PAIRS_FIRST)
    new, old = PLANS[3], PLANS[50]
    search.learn(new, RunOutcome(fingerprints=frozenset("a")))
    search.learn(old, RunOutcome(fingerprints=frozenset("a")))
    later = proposed(search, 200)
    (fault,), (dull,) = new.schedule.faults, old.schedule.faults
    assert sum(fault in each.faults for each in later) > 30
    assert sum(dull in each.faults for each in later) < 10


def test_new_lines_count() -> None:
    """New lines of the program are new, too."""
    search = Search(REFERENCE, PLANS, seed=1)
    proposed(search, PAIRS_FIRST)
    search.learn(
        PLANS[50], RunOutcome(lines=frozenset({"web.py:1"}))
    )  # the first traced run shows nothing that is rare
    search.learn(PLANS[3], RunOutcome(lines=frozenset({"web.py:3"})))
    (fault,) = PLANS[3].schedule.faults
    assert sum(fault in each.faults for each in proposed(search, 200)) > 30


def test_what_fails_alone_is_left_out() -> None:
    """A fault that fails on its own is not combined with others."""
    search = Search(REFERENCE, PLANS, seed=1)
    for plan in PLANS:
        if plan.schedule.faults[0].kind is not FaultKind.TEAR:
            search.learn(plan, RunOutcome(problems=(PROBLEM,)))
    kinds = {fault.kind for each in proposed(search, 100) for fault in each}
    assert kinds == {FaultKind.TEAR}


def test_unused_faults_are_dropped() -> None:
    """A fault whose point never came is not kept in what showed something new."""
    search = Search(REFERENCE, PLANS, seed=1)
    proposed(search, PAIRS_FIRST)
    kept, unused = PLANS[3].schedule.faults[0], PLANS[50].schedule.faults[0]
    plan = Plan("random", Schedule((kept, unused)))
    search.learn(plan, RunOutcome(fingerprints=frozenset("a"), unused=(str(unused),)))
    later = proposed(search, 200)
    assert sum(kept in each.faults for each in later) > 30
    assert sum(unused in each.faults for each in later) < 10


def test_without_plans() -> None:
    """Without faults to combine, orders of tasks are proposed without end."""
    found = proposed(Search(REFERENCE, [], seed=1), 100)
    assert len(set(found)) == 100
    assert not any(each.faults for each in found)
