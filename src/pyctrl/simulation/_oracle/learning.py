"""What differs between runs without faults, learned from several: names, paths, and objects that come and go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from pyctrl.simulation._history import Changed, ObjectId
from pyctrl.simulation._oracle.difference import compare
from pyctrl.simulation._oracle.mask import Mask
from pyctrl.simulation._oracle.names import Family, generated_prefix, is_named_by_time
from pyctrl.simulation._oracle.normal_form import Normaliser
from pyctrl.simulation._oracle.transitions import objects_ever, states_of, transitions
from pyctrl.simulation._run import Run

__all__ = ["Lessons", "learn"]

_AT_ONCE = 10.0  # seconds in which an operator does what a user asks for; the world is at rest after 5
_PASSES = 4  # matching depends on the mask, which depends on matching
_RANDOM_END = re.compile(r"(.*[-._])([a-z0-9]+)")


class Lessons:
    """What several runs without faults taught.

    Attributes:
        families: Objects with names that differ.
        mask: Paths that differ.
        unstable: Canonical names of objects that come and go.
        prefixes: The prefixes of all generated names.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.families = frozenset(_families(runs))
        self.prefixes = frozenset(_prefixes(runs))
        self.mask = Mask()
        self.unstable: set[ObjectId] = set()

    def normaliser(self) -> Normaliser:
        """Return a normaliser that knows what was learned."""
        return Normaliser(self.mask, self.families, self.prefixes)


def learn(runs: Sequence[Run]) -> Lessons:
    """Compare runs of one scenario that differ in their seeds, and what each does in its time of quiet."""
    lessons = Lessons(runs)
    for run in runs:
        _learn_from_quiet(lessons, run)
    for _ in range(_PASSES):
        if not _learn_from_states(lessons, runs):
            return lessons
    _learn_from_states(lessons, runs, all_unstable=True)
    return lessons


def _learn_from_states(lessons: Lessons, runs: Sequence[Run], *, all_unstable: bool = False) -> bool:
    """Compare the states of each run with those of the first one, and return whether something new was learned."""
    normaliser, is_new = lessons.normaliser(), False
    first, *others = [[list(normaliser.normalise(state)) for state in states_of(run)] for run in runs]
    for states in others:
        for expected, found in zip(first, states, strict=False):
            for difference in compare(expected, found, unstable=lessons.unstable):
                is_new = True
                one, other = difference.expected, difference.found
                if one is None or other is None or all_unstable:
                    lessons.unstable.update(each.canonical for each in (one, other) if each is not None)
                else:
                    lessons.mask.learn(one.canonical, one.tree, other.tree)
    return is_new


def _learn_from_quiet(lessons: Lessons, run: Run) -> None:
    """Learn what moves although nothing happens: heartbeats, counters, and the Jobs of a schedule."""
    normaliser = Normaliser(families=lessons.families, prefixes=lessons.prefixes)
    names = normaliser.names_of(dict(objects_ever(run)))
    last_act = 0.0
    for each in transitions(run):
        if each.change.by == "user":
            last_act = each.change.at
        elif each.change.at >= run.quiet_from and each.before is not None and each.after is not None:
            one, other = (normaliser.one(each.target, obj, names) for obj in (each.before, each.after))
            lessons.mask.learn(one.canonical, one.tree, other.tree)
        elif each.change.at >= run.quiet_from or (each.before is None and _is_timed(each.change, last_act)):
            lessons.unstable.add(names.canonical(each.target))


def _is_timed(change: Changed, last_act: float) -> bool:
    """Return whether an object was created because of the time, and has it in its name: a run of a schedule.

    How many of them there are depends on how long a run takes.
    """
    return change.at - last_act > _AT_ONCE and is_named_by_time(change.target.name)


def _families(runs: Sequence[Run]) -> Iterator[Family]:
    """Yield the families of objects that each run has, each with other names: made with a random or hashed part."""
    normaliser = Normaliser(prefixes=frozenset(_prefixes(runs)))
    for states in zip(*map(states_of, runs), strict=False):
        named = [set(map(normaliser.names(state).canonical, state.objects)) for state in states]
        common = set.intersection(*named)
        groups = [_by_prefix(names - common) for names in named]
        for key in set.intersection(*(set(group) for group in groups)):
            lengths = {length for group in groups for length in group[key]}
            yield from (Family(key[0], key[2], length) for length in lengths)


def _by_prefix(names: set[ObjectId]) -> dict[tuple[str, str, str], set[int]]:
    groups: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for each in names:
        if match := _RANDOM_END.fullmatch(each.name):
            groups[each.resource, each.namespace, match[1]].add(len(match[2]))
    return groups


def _prefixes(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        for entry in run.history:
            if isinstance(entry, Changed) and entry.type == "ADDED":
                yield generated_prefix(entry.target, entry.obj)
        for state in (run.initial, *states_of(run)):
            yield from (generated_prefix(object_id, obj) for object_id, obj in state.objects.items())
