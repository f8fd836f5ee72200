"""Search after the systematic plans: pairs of faults, longer schedules, and other orders of tasks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from pyctrl.simulation._report import Plan, RunOutcome
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Point, Schedule

__all__ = ["Search"]

FAMILY = "random"

PAIRS_FIRST = 400  # proposals; most bugs that no single fault shows need two (Kuhn, Wallace, Gallo 2004)
DOWN = 40  # of the pairs in which the operator is down; others may be drawn later
ORDERS = 16  # orders of tasks without a fault
LONGEST = 6  # faults; longer schedules are mostly over before they are through, and say less when they fail
NEAR = 24  # points; a second fault is drawn within about so many points of the first
NEXT = 0.5  # share of second faults at the next repetition of something, which the first fault may have caused
SEEDS = 100_000
MOST_NEW = 10  # that counts of one run: one that breaks into a new region is not changed for ever
TRIES = 50  # to draw a schedule that was not proposed before


class Search:
    """Proposes schedules that were not tried before, and learns from their outcomes. It never ends.

    First come pairs in which a user meddles while the operator is down, then some orders of tasks without a fault, then
    pairs of faults of unlike families at points near each other. After `PAIRS_FIRST` proposals, most are changes of
    schedules that showed something new (states of the world, or lines of the program): a fault is added, dropped,
    moved, or changed. Faults that fail on their own are not combined.

    The same seed, plans and outcomes in the same order give the same proposals.

    Args:
        reference: The run without faults.
        plans: The systematic plans of one fault, of which schedules are made. Without any, only orders of tasks are
            proposed.
        seed: The seed of all that is drawn.
    """

    def __init__(self, reference: Run, plans: Sequence[Plan], *, seed: int) -> None:
        self._random = Random(seed)
        self._places = {point: place for place, point in enumerate(dict.fromkeys(reference.points))}
        self._faults = _Faults(plans, self._places)
        self._first = [*_down_while_meddling(plans)[:DOWN], *_orders(self._random)]
        self._first.reverse()
        self._corpus: list[_Seen] = []
        self._proposed: set[Schedule] = {plan.schedule for plan in plans} | {Schedule()}
        self._count = 0
        self._fingerprints: set[str] = set()
        self._lines: set[str] = set()

    def propose(self) -> Plan:
        """Return a plan of family ``random`` that was not proposed before."""
        self._count += 1
        while self._first:
            schedule = self._first.pop()
            if self._is_new(schedule):
                return self._plan(schedule)
        schedule = Schedule()
        for _ in range(TRIES):
            schedule = self._draw()
            if schedule.faults and self._is_new(schedule):
                return self._plan(schedule)
        while not self._is_new(schedule):  # all that is near was proposed
            schedule = self._other_order(Schedule())
        return self._plan(schedule)

    def learn(self, plan: Plan, outcome: RunOutcome) -> None:
        """Take the outcome of a plan into account, of a proposal or of a systematic plan."""
        schedule = _without_unused(plan.schedule, outcome)
        lines = outcome.lines - self._lines if self._lines else ()  # the first traced run shows nothing that is rare
        new = min(len(outcome.fingerprints - self._fingerprints) + 2 * len(lines), MOST_NEW)
        self._fingerprints |= outcome.fingerprints
        self._lines |= outcome.lines
        if outcome.problems:
            if len(schedule) == 1:
                self._faults.leave_out(schedule.faults[0])
        elif new and schedule.faults:
            self._corpus.append(_Seen(schedule, new))

    def _plan(self, schedule: Schedule) -> Plan:
        self._proposed.add(schedule)
        return Plan(FAMILY, schedule)

    def _is_new(self, schedule: Schedule) -> bool:
        left_out = self._faults.left_out
        return schedule not in self._proposed and not any(fault in left_out for fault in schedule)

    def _draw(self) -> Schedule:
        if self._count > PAIRS_FIRST and self._corpus and self._random.random() < 0.7:
            schedule = self._mutated()
        else:
            is_pair = self._count <= PAIRS_FIRST or self._random.random() < 0.5
            schedule = self._several(2 if is_pair else self._random.randint(3, LONGEST))
        # another order of tasks has no beginning in common with other runs, and costs more
        return self._other_order(schedule) if self._random.random() < 0.1 else schedule

    def _several(self, count: int) -> Schedule:
        """Return a schedule of faults of unlike families as far as possible, each near one before it."""
        found: list[Fault] = []
        while len(found) < count:
            near = next((fault for fault in reversed(found) if fault.point in self._places), None)
            unlike = [self._faults.family(fault) for fault in found]
            fault = self._faults.draw(self._random, near=near, unlike=unlike)
            if fault is None or fault in found:
                break
            found.append(fault)
        return Schedule(tuple(self._faults.ordered(found)))

    def _other_order(self, schedule: Schedule) -> Schedule:
        return replace(schedule, shuffle=self._random.random() < 0.8, seed=self._random.randrange(1, SEEDS))

    # --- changes of what showed something new ---

    def _mutated(self) -> Schedule:
        weights = [seen.new / (1 + seen.chosen) for seen in self._corpus]
        (seen,) = self._random.choices(self._corpus, weights)
        seen.chosen += 1
        changes: tuple[Callable[[Schedule], Schedule], ...] = (self._added, self._dropped, self._moved, self._changed)
        (change,) = self._random.choices(changes, (4, 1, 2, 2))
        return change(seen.schedule)

    def _added(self, schedule: Schedule) -> Schedule:
        if len(schedule) >= LONGEST:
            return self._dropped(schedule)
        near = self._random.choice(schedule.faults)
        fault = self._faults.draw(self._random, near=near, unlike=[self._faults.family(near)])
        faults = dict.fromkeys((*schedule.faults, fault) if fault else schedule.faults)
        return schedule.with_faults(self._faults.ordered(faults))

    def _dropped(self, schedule: Schedule) -> Schedule:
        place = self._random.randrange(len(schedule))
        return schedule.with_faults((*schedule.faults[:place], *schedule.faults[place + 1 :]))

    def _moved(self, schedule: Schedule) -> Schedule:
        """Return the schedule with a fault at another point of the reference at which it is possible."""
        return self._replaced(schedule, lambda fault, other: other.kind is fault.kind)

    def _changed(self, schedule: Schedule) -> Schedule:
        """Return the schedule with another fault at the same point, or with other seconds."""
        return self._replaced(schedule, lambda fault, other: other.point == fault.point)

    def _replaced(self, schedule: Schedule, fits: Callable[[Fault, Fault], bool]) -> Schedule:
        place = self._random.randrange(len(schedule))
        fault = schedule.faults[place]
        other = self._faults.draw(self._random, near=fault, among=lambda each: each != fault and fits(fault, each))
        faults = (*schedule.faults[:place], other or fault, *schedule.faults[place + 1 :])
        return schedule.with_faults(self._faults.ordered(dict.fromkeys(faults)))


@dataclass(slots=True)
class _Seen:
    """A schedule that showed something new, and how often it was changed since."""

    schedule: Schedule
    new: int
    chosen: int = 0


class _Faults:
    """The faults of single plans in the order of their points, to draw from."""

    def __init__(self, plans: Sequence[Plan], places: dict[Point, int]) -> None:
        self._places = places
        found = dict.fromkeys(fault for plan in plans for fault in plan.schedule)
        self._all = sorted(found, key=self._place)  # stable: at one point in the order of the plans
        self._at = [self._place(fault) for fault in self._all]
        self._families = {(fault.kind, fault.point.occasion): plan.family for plan in plans for fault in plan.schedule}
        self._of_family: dict[str, list[Fault]] = {}
        self._of_name: dict[_Name, list[Fault]] = {}
        for fault in self._all:
            self._of_family.setdefault(self.family(fault), []).append(fault)
            self._of_name.setdefault(_name(fault), []).append(fault)
        self._repetitions: dict[_Name, list[int]] = {}  # places, ascending
        for point, place in places.items():
            self._repetitions.setdefault((point.occasion, point.what), []).append(place)
        self.left_out: set[Fault] = set()

    def _place(self, fault: Fault) -> int:
        return self._places.get(fault.point, len(self._places))

    def leave_out(self, fault: Fault) -> None:
        """Draw a fault no longer, since it fails on its own and would hide what others show."""
        self.left_out.add(fault)

    def family(self, fault: Fault) -> str:
        """Return the family of the fault's plans."""
        return self._families.get((fault.kind, fault.point.occasion), "")

    def ordered(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return faults in the order of their points; at one point a crash comes before what a user does meanwhile."""
        return sorted(faults, key=lambda fault: (self._place(fault), fault.kind is not FaultKind.CRASH))

    def draw(
        self,
        random: Random,
        *,
        near: Fault | None = None,
        unlike: Collection[str] = (),
        among: Callable[[Fault], bool] = lambda _: True,
    ) -> Fault | None:
        """Return a fault, near another one, of another family if there is one; None if there is none."""
        for _ in range(TRIES if self._all else 0):
            if near is None:
                # first a family, so that one with few points is as likely as one with many
                fault = random.choice(self._of_family[random.choice(list(self._of_family))])
            elif random.random() < NEXT:
                fault = self._next(random, self._place(near))
            else:
                fault = self._near(random, self._place(near))
            if fault not in self.left_out and self.family(fault) not in unlike and among(fault):
                return fault
        rest = [each for each in self._all if each not in self.left_out and each != near and among(each)]
        return random.choice(rest) if rest else None

    def _near(self, random: Random, place: int) -> Fault:
        begin = min(bisect_left(self._at, round(random.gauss(place, NEAR))), len(self._all) - 1)
        return self._all[random.randrange(begin, bisect_right(self._at, self._at[begin]))]

    def _next(self, random: Random, place: int) -> Fault:
        """Return a fault at the next repetition after a place, which need not be in the reference.

        After a crash or a meddling, an operator does again what it did before: its next create is the second one.
        """
        name = random.choice(list(self._of_name))
        fault = random.choice(self._of_name[name])
        if fault.point.occasion is Occasion.STEP or any(
            other.kind is fault.kind and _name(other) == name for other in self.left_out
        ):
            return fault
        return replace(fault, point=replace(fault.point, nth=bisect_right(self._repetitions[name], place) + 1))


_Name: TypeAlias = tuple[Occasion, str]


def _name(fault: Fault) -> _Name:
    """Return what all repetitions of a fault's point have in common."""
    return fault.point.occasion, fault.point.what


def _without_unused(schedule: Schedule, outcome: RunOutcome) -> Schedule:
    return schedule.with_faults(fault for fault in schedule if str(fault) not in outcome.unused)


def _down_while_meddling(plans: Sequence[Plan]) -> list[Schedule]:
    """Return schedules in which a user meddles while no process runs, which then starts with a new cache."""
    faults = dict.fromkeys(fault for plan in plans for fault in plan.schedule)
    crashes = {fault.point: fault for fault in faults if fault.kind is FaultKind.CRASH}
    meddling = (FaultKind.DELETE_CHILD, FaultKind.RECREATE_PARENT, FaultKind.CHANGE_CHILD)
    return [
        Schedule((crashes[fault.point], fault))
        for fault in faults
        if fault.kind in meddling and fault.point in crashes and fault.point.occasion is Occasion.STEP
    ]


def _orders(random: Random) -> list[Schedule]:
    return [Schedule((), seed, shuffle=True) for seed in random.sample(range(1, SEEDS), ORDERS)]
