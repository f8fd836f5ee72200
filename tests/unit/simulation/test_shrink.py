"""Shrinking of schedules that fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Point, Schedule
from pyctrl.simulation._shrink import OCCASIONS, SIMPLER, shrink, simpler_faults

MANY = 10_000

faults = st.builds(
    Fault,
    st.sampled_from([kind for kind in FaultKind if kind is not FaultKind.DELAY]),
    st.builds(
        Point, st.just(Occasion.WRITE), st.sampled_from(["create pods a/b", "update pods a/b"]), st.integers(1, 9)
    ),
) | st.builds(
    Fault,
    st.just(FaultKind.DELAY),
    st.builds(Point, st.just(Occasion.EVENT), st.just("pods a/b ADDED"), st.integers(1, 9)),
    st.integers(1, 100).map(str),
)
schedules = st.builds(
    Schedule, st.lists(faults, min_size=1, max_size=12, unique=True).map(tuple), st.integers(0, 3), st.booleans()
)


def counted(fails: Callable[[Schedule], bool]) -> tuple[Callable[[Schedule], bool], list[Schedule]]:
    """Return the function, and the schedules that it was called with."""
    tried: list[Schedule] = []

    def call(schedule: Schedule) -> bool:
        tried.append(schedule)
        return fails(schedule)

    return call, tried


@settings(max_examples=40)
@given(schedules, st.data())
def test_exactly_what_is_needed(schedule: Schedule, data: st.DataObject) -> None:
    """If exactly some faults are needed, exactly these are left."""
    needed = data.draw(st.sets(st.sampled_from(schedule.faults)))
    shrunk = shrink(schedule, lambda each: needed <= set(each.faults), attempts=MANY)
    assert shrunk == Schedule(tuple(fault for fault in schedule.faults if fault in needed))


@settings(max_examples=40)
@given(schedules, st.randoms(use_true_random=False))
def test_nothing_can_be_left_out(schedule: Schedule, random: Random) -> None:
    """Whatever fails: the result fails, and neither a fault can be left out nor one be simplified."""
    verdicts: dict[Schedule, bool] = {schedule: True}

    def fails(each: Schedule) -> bool:
        return verdicts.setdefault(each, random.random() < 0.3)

    shrunk = shrink(schedule, fails, attempts=MANY)
    assert verdicts[shrunk]
    for place, fault in enumerate(shrunk.faults):
        rest = (*shrunk.faults[:place], *shrunk.faults[place + 1 :])
        assert not fails(shrunk.with_faults(rest))
        for simpler in simpler_faults(fault):
            if simpler not in shrunk.faults:
                assert not fails(shrunk.with_faults((*shrunk.faults[:place], simpler, *shrunk.faults[place + 1 :])))
    assert not shrunk.shuffle or not fails(replace(shrunk, shuffle=False))
    assert not shrunk.seed or not fails(replace(shrunk, seed=0))


@settings(max_examples=40)
@given(schedules, st.integers(0, 20))
def test_attempts(schedule: Schedule, attempts: int) -> None:
    """No more attempts are made than allowed, none twice, and the result is one that failed."""
    fails, tried = counted(lambda each: len(each.faults) * 2 >= len(schedule.faults))
    shrunk = shrink(schedule, fails, attempts=attempts)
    assert len(tried) <= attempts
    assert len(tried) == len(set(tried))
    assert shrunk == schedule or shrunk in tried


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("crash-during create pods a/b#3", "answer-lost create pods a/b#1"),
        ("delay event pods a/b ADDED#2 by 60", "delay event pods a/b ADDED#1 by 1"),
        ("jump-clock step#1 by -3600", "jump-clock step#1 by 1"),
        ("replace-child step#2 by pods a/b", "delete-child step#1 by pods a/b"),
        ("seed=7; shuffle; crash step#1", ""),
    ],
)
def test_simplest_form(before: str, after: str) -> None:
    """A fault for which any would do becomes the simplest of its kind."""
    least = min(len(Schedule.parse(after)), 1)
    shrunk = shrink(Schedule.parse(before), lambda each: len(each) >= least, attempts=MANY)
    assert str(shrunk) == after


def test_faults_stay_different() -> None:
    """A fault is not simplified to another one of the schedule."""
    shrunk = shrink(
        Schedule.parse("crash step#1; tear step#1; compact step#1"), lambda each: len(each) == 3, attempts=MANY
    )
    assert len(set(shrunk.faults)) == 3


def test_few_attempts_for_many_faults() -> None:
    """One of a hundred faults is found in fewer than thirty attempts."""
    many = tuple(Fault(FaultKind.TEAR, Point(Occasion.STEP, "", nth)) for nth in range(1, 101))
    fails, tried = counted(lambda each: many[41] in each.faults)
    assert shrink(Schedule(many), fails, attempts=MANY).faults == (many[41],)
    assert len(tried) < 30


def test_simpler_kinds_end() -> None:
    """No fault is simpler than itself by any path, and each simpler one has occasions."""

    def below(kind: FaultKind, seen: tuple[FaultKind, ...] = ()) -> None:
        assert kind not in seen
        for each in SIMPLER.get(kind, ()):
            assert OCCASIONS[each]
            below(each, (*seen, kind))

    for kind in FaultKind:
        below(kind)
