"""Systematic plans: every single fault that a reference run offers, in the order that finds bugs fastest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyctrl.simulation._meddling import Meddling, meddlings
from pyctrl.simulation._report import Plan
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Schedule
from pyctrl.simulation._sites import Site, sites

__all__ = ["FAMILIES", "systematic"]

FAMILIES = (
    "crash",
    "error",
    "event",
    "stale",
    "leadership",
    "meddling",
    "external",
    "server",
    "clock",
    "webhook",
)
"""The families of systematic plans. `Plan` names two more: saved and random."""

SHORT_LAG = "5"  # seconds; longer than an operator's first backoffs, which add up to 2.6 s after nine failures
LONG_LAG = "60"  # seconds; a watch that is silent for 90 s is replaced: `pyctrl.cache`, WATCH_SILENCE
LONG_FREEZE = "30"  # seconds; a Lease of 15 s expires, another replica leads, and then the first one goes on
SLOW_CALL = "30"  # seconds; a common timeout of HTTP clients
SLOW_WEBHOOK = "5"  # seconds; below timeoutSeconds, by default 10
JUMPS = ("3600", "-3600", "86400")  # seconds: a wrong time zone in both directions, and a day asleep


def _always(_: Site) -> bool:
    return True


def _has_effect(site: Site) -> bool:
    return site.has_effect


def _expects_version(site: Site) -> bool:
    return site.expects_version


def _has_successor(site: Site) -> bool:
    return site.entry is None or site.has_successor


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A fault that fits an occasion.

    Attributes:
        family: Its family.
        kind: The fault.
        occasion: Where it fits.
        weight: How many plans of it are tried while one of weight 1 is tried.
        arguments: Of each plan one.
        fits: Whether it can make a difference at a site.
        needs_replicas: Whether it is only of interest with several replicas.
    """

    family: str
    kind: FaultKind
    occasion: Occasion
    weight: float
    arguments: tuple[str, ...] = ("",)
    fits: Callable[[Site], bool] = _always
    needs_replicas: bool = False


_K, _O = FaultKind, Occasion

# Sieve (OSDI 2022) found its bugs in operators by crashes between two writes, stale views after a restart, and missed
# events; these, lost answers, and deleted or recreated objects have the highest weights.
RECIPES = (
    # A request without effect leaves the same world before, during and after it: one crash is enough.
    _Recipe("crash", _K.CRASH_DURING, _O.WRITE, 8, fits=_has_effect),
    _Recipe("crash", _K.CRASH_AFTER, _O.WRITE, 5),
    _Recipe("crash", _K.CRASH_BEFORE, _O.WRITE, 3, fits=_has_effect),
    _Recipe("crash", _K.CRASH_DURING, _O.CALL, 8, fits=_has_effect),
    _Recipe("crash", _K.CRASH_AFTER, _O.CALL, 4),
    _Recipe("crash", _K.CRASH_BEFORE, _O.CALL, 3, fits=_has_effect),
    _Recipe("crash", _K.CRASH, _O.STEP, 3),
    # A crash at an event leaves what a crash at the reconcile leaves that it causes.
    _Recipe("crash", _K.CRASH, _O.RECONCILE, 1),
    _Recipe("crash", _K.CRASH, _O.HANDLE, 0.5),
    _Recipe("error", _K.ANSWER_LOST, _O.WRITE, 8, fits=_has_effect),
    _Recipe("error", _K.CONFLICT, _O.WRITE, 5, fits=_expects_version),
    _Recipe("error", _K.INTERNAL_ERROR, _O.WRITE, 3),
    _Recipe("error", _K.TIMEOUT, _O.WRITE, 2),
    _Recipe("error", _K.TOO_MANY_REQUESTS, _O.WRITE, 1),
    _Recipe("error", _K.INTERNAL_ERROR, _O.LIST, 1),
    _Recipe("error", _K.TIMEOUT, _O.LIST, 0.5),
    _Recipe("error", _K.TOO_MANY_REQUESTS, _O.LIST, 0.5),
    _Recipe("event", _K.DELAY, _O.EVENT, 5, (LONG_LAG,)),
    _Recipe("event", _K.HIDE, _O.EVENT, 3),
    _Recipe("event", _K.COALESCE, _O.EVENT, 2, fits=_has_successor),
    _Recipe("event", _K.DELAY, _O.EVENT, 2, (SHORT_LAG,)),
    _Recipe("event", _K.TEAR, _O.STEP, 1),
    _Recipe("event", _K.TEAR, _O.WRITE, 0.5),
    _Recipe("stale", _K.STALE, _O.RECONCILE, 5, (LONG_LAG,)),
    _Recipe("stale", _K.TIME_TRAVEL, _O.STEP, 4),
    _Recipe("stale", _K.TIME_TRAVEL, _O.WRITE, 4),
    _Recipe("stale", _K.STALE, _O.RECONCILE, 1, (SHORT_LAG,)),
    _Recipe("leadership", _K.LOSE_LEADERSHIP, _O.WRITE, 8, needs_replicas=True),
    _Recipe("leadership", _K.FREEZE, _O.WRITE, 6, (LONG_FREEZE,), needs_replicas=True),
    _Recipe("leadership", _K.FREEZE, _O.CALL, 4, (LONG_FREEZE,), needs_replicas=True),
    _Recipe("leadership", _K.FREEZE, _O.RECONCILE, 1, (LONG_FREEZE,), needs_replicas=True),
    _Recipe("external", _K.ANSWER_LOST, _O.CALL, 8, fits=_has_effect),
    _Recipe("external", _K.CALL_FAILS, _O.CALL, 6),
    _Recipe("external", _K.CALL_TWICE, _O.CALL, 4),
    _Recipe("external", _K.CALL_SLOW, _O.CALL, 2, (SLOW_CALL,)),
    _Recipe("server", _K.RESTORE_BACKUP, _O.STEP, 3),
    _Recipe("server", _K.COMPACT, _O.STEP, 1),
    _Recipe("server", _K.COMPACT, _O.WRITE, 1),
    _Recipe("server", _K.RESTART_SERVER, _O.STEP, 1),
    _Recipe("server", _K.RESTART_SERVER, _O.WRITE, 1),
    _Recipe("clock", _K.JUMP_CLOCK, _O.STEP, 2, JUMPS),
    _Recipe("clock", _K.JUMP_CLOCK, _O.WRITE, 1, JUMPS),
    _Recipe("webhook", _K.WEBHOOK_FAILS, _O.WEBHOOK, 3),
    _Recipe("webhook", _K.WEBHOOK_SLOW, _O.WEBHOOK, 1, (SLOW_WEBHOOK,)),
)

MEDDLING_WEIGHTS = {  # in this order of the same turn
    FaultKind.DELETE_CHILD: 6.0,
    FaultKind.RECREATE_PARENT: 6.0,
    FaultKind.CHANGE_CHILD: 4.0,
    FaultKind.REPLACE_CHILD: 4.0,
}


def systematic(reference: Run, *, families: Collection[str] = FAMILIES, replicas: int = 1) -> list[Plan]:
    """Return all plans of one fault, from a run without faults.

    The plans are interleaved over faults and points, so that the first tenth has something of everything. Of points
    that are alike, those of other steps come first. Plans that cannot differ are left out: a Conflict of a write
    without a version, a lost answer of a write without effect, and repetitions beyond the limit of `sites`. The same
    run gives the same plans.

    Args:
        reference: The run.
        families: The families to plan for, of `FAMILIES`.
        replicas: The number of replicas of the operator; with one, there are no plans of leadership.

    Raises:
        ValueError: A family is unknown.
    """
    if unknown := [each for each in families if each not in FAMILIES]:
        raise ValueError(f"expected families among {', '.join(FAMILIES)}; got {', '.join(map(str, unknown))}")
    found = sites(reference)
    queues = [
        _Queue(recipe.weight, list(_plans(recipe, found)))
        for recipe in RECIPES
        if recipe.family in families and (replicas > 1 or not recipe.needs_replicas)
    ]
    if "meddling" in families:
        queues += _meddling_queues(meddlings(reference))
    return [*dict.fromkeys(_interleaved(queues))]


@dataclass(frozen=True, slots=True)
class _Queue:
    weight: float
    plans: Sequence[Plan]


def _plans(recipe: _Recipe, found: Iterable[Site]) -> Iterator[Plan]:
    fitting = [site for site in found if site.point.occasion is recipe.occasion and recipe.fits(site)]
    for site in sorted(fitting, key=lambda site: site.rank):  # stable: otherwise in order of the run
        for argument in recipe.arguments:
            yield _plan(recipe.family, Fault(recipe.kind, site.point, argument))


def _meddling_queues(found: Sequence[Meddling]) -> Iterator[_Queue]:
    for kind, weight in MEDDLING_WEIGHTS.items():
        some = sorted((each for each in found if each.fault.kind is kind), key=lambda each: each.rank)
        yield _Queue(weight, [_plan("meddling", each.fault) for each in some])


def _plan(family: str, fault: Fault) -> Plan:
    return Plan(family, Schedule((fault,)))


def _interleaved(queues: Sequence[_Queue]) -> list[Plan]:
    """Merge queues: of each in proportion to its weight, as a weighted fair queue does."""
    turns = [
        ((place + 0.5) / queue.weight, number, plan)
        for number, queue in enumerate(queues)
        for place, plan in enumerate(queue.plans)
    ]
    return [plan for _, _, plan in sorted(turns, key=lambda turn: turn[:2])]
