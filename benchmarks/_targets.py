"""Performance targets of pyctrl as ratios within one run, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from _results import LIMIT, OURS, Results, ratio
from _works import Case

GO, COMPRESSED, ASYNCIO, KOPF = "controller-runtime", "pyctrl-compressed", "kubernetes_asyncio", "kopf"


@dataclass(frozen=True)
class Target:
    """An upper limit on the sum of our numbers: a multiple of another peer's, or an absolute one.

    Attributes:
        names: the names of the numbers.
        most: the limit.
        work: the work with the numbers.
        other: the compared peer; without one, `most` is absolute.
        less: the names of the other peer's numbers, if they differ.
        ours: the peer with the target.
        kind: restricts the target to cases of this kind.
        where: restricts the target to cases with this value of a field.
        scale: the factor for displaying an absolute number.
        is_strict: whether the limit itself misses the target.
    """

    what: str
    names: tuple[str, ...]
    most: float
    work: tuple[str, ...]
    other: str | None = None
    less: tuple[str, ...] = ()
    ours: str = OURS
    kind: str = "widgets"
    where: tuple[tuple[str, int], ...] = ()
    scale: float = 1.0
    is_strict: bool = False

    def measured(self, results: Results, case: Case) -> float | None:
        """Return the result in a case, or None without data."""
        ours = _sum(results, case, self.ours, self.names)
        if self.other is None:
            return ours
        return ratio(ours, _sum(results, case, self.other, self.less or self.names))

    def is_met(self, value: float) -> bool:
        """Whether a result meets the target."""
        return value < self.most if self.is_strict else value <= self.most

    def fits(self, case: Case) -> bool:
        """Whether the target applies to a case."""
        about = case.work in self.work and case.kind == self.kind
        return about and all(getattr(case, name) == value for name, value in self.where)


CACHE, READS, RECONCILE, LOOP = ("cache",), ("reads",), ("reconcile",), ("loop",)
KB4 = (("size", 4096),)
MANY = (*KB4, ("objects", 100_000))
ONE_WORKER = (("workers", 1),)
START = ("ready_wall", "sync_wall")

TARGETS = (
    Target("sync, CPU: of controller-runtime's", ("sync_cpu",), 1 / 6, CACHE, GO, where=KB4),
    Target("sync, CPU, typed pods: of kubernetes_asyncio's", ("sync_cpu",), 1 / 25, CACHE, ASYNCIO, kind="pods"),
    Target("sync, CPU: of the limit", ("sync_cpu",), 3, CACHE, LIMIT, where=KB4),
    Target("events, CPU: of controller-runtime's", ("events_cpu",), 1 / 2, CACHE, GO, where=KB4),
    Target("resident after sync: of controller-runtime's", ("synced_bytes",), 1 / 3, CACHE, GO, where=KB4),
    Target("peak of sync: of controller-runtime's", ("sync_peak_bytes",), 1 / 3, CACHE, GO, where=KB4),
    Target("peak of relist: of controller-runtime's", ("relist_peak_bytes",), 1 / 3, CACHE, GO, where=KB4),
    Target("relist peak: of steady", ("relist_peak_bytes",), 1.1, CACHE, OURS, ("steady_bytes",), where=KB4),
    Target(
        "compressed, resident: of controller-runtime's", ("synced_bytes",), 1 / 8, CACHE, GO, (), COMPRESSED, where=MANY
    ),
    Target("compressed, get: of plain", ("get_cpu",), 4, READS, OURS, (), COMPRESSED),
    Target("get: of controller-runtime's", ("get_cpu",), 3, READS, GO),
    Target("1,000 by label: of controller-runtime's", ("label_cpu",), 3, READS, GO),
    Target("1,000 by index: of controller-runtime's", ("index_cpu",), 3, READS, GO),
    Target("get: of kubernetes_asyncio's", ("get_cpu",), 1 / 2, READS, ASYNCIO),
    Target("1,000 by label: of kubernetes_asyncio's", ("label_cpu",), 1 / 2, READS, ASYNCIO),
    Target("reconcile, CPU, 1 worker: of controller-runtime's", ("reconcile_cpu",), 4, RECONCILE, GO, where=ONE_WORKER),
    Target("reconcile, CPU, 1 worker: of kopf's", ("reconcile_cpu",), 1 / 10, RECONCILE, KOPF, where=ONE_WORKER),
    Target("loop, calls: of controller-runtime's", ("converge_calls",), 1, LOOP, GO, kind="podsets", is_strict=True),
    Target("loop, CPU: of controller-runtime's", ("converge_cpu",), 2, LOOP, GO, kind="podsets"),
    Target("loop, CPU: of kopf's", ("converge_cpu",), 1 / 10, LOOP, KOPF, kind="podsets"),
    *(
        Target(
            f"latency at {rate}/s: of controller-runtime's",
            (f"latency_{rate}_median",),
            2,
            ("latency",),
            GO,
            kind="podsets",
        )
        for rate in (100, 1_000)
    ),
    Target("restart: writes", ("restart_writes",), 0, ("restart", "loop"), kind="podsets"),
    Target("idle, MB", ("idle_bytes",), 60, RECONCILE, where=(("objects", 1),), scale=1e-6),
    Target("start to first reconcile, wall: of kopf's", START, 1 / 2, RECONCILE, KOPF, where=(("objects", 1),)),
)


def verdicts(results: Results, *, is_whole: bool) -> Iterator[list[str]]:
    """Yield a row for each target: the worst case among those with the most objects.

    Args:
        is_whole: whether to include targets without results.
    """
    for target in TARGETS:
        fitting = [case for case in results.rows if target.fits(case)]
        if ("objects", 1) not in target.where:
            fitting = [case for case in fitting if case.objects > 1]
        found = {case: value for case in fitting if (value := target.measured(results, case)) is not None}
        most = max((case.objects for case in found), default=0)
        largest = {case: value for case, value in found.items() if case.objects == most}
        if not largest:
            if is_whole:
                yield [target.what, "", _limit(target), "", "not measured"]
            continue
        case = max(largest, key=lambda case: largest[case])
        value = largest[case]
        verdict = "ok" if target.is_met(value * target.scale) else "MISS"
        yield [
            target.what,
            _at(case) + _star(results, case, target),
            _limit(target),
            _shown(target, value * target.scale),
            verdict,
        ]


def _sum(results: Results, case: Case, peer: str, names: tuple[str, ...]) -> float | None:
    found = [results.median(case, peer, name) for name in names]
    values = [value for value in found if value is not None]
    return sum(values) if len(values) == len(names) else None


def _at(case: Case) -> str:
    return f"{case.objects:,} {case.kind}" + (f", {case.lists}" if case.work == "cache" else "")


def _star(results: Results, case: Case, target: Target) -> str:
    """Mark a comparison of two calls."""
    rows = results.rows[case]
    return " *" if target.other and rows[target.other].call != rows[target.ours].call else ""


def _limit(target: Target) -> str:
    return ("< " if target.is_strict else "") + _shown(target, target.most)


def _shown(target: Target, value: float) -> str:
    if target.other is None:
        return f"{value:.0f}"
    return f"{value:.2f} ×" if value > 0.7 else f"1/{1 / value:.1f}" if value else "0"
