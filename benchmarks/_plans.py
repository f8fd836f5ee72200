"""Plans of one call: works, numbers and sizes of objects, and peers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import product

from _lines import belongs
from _peers import PEERS
from _works import OPERATOR_WORKS, Case

SLOW = frozenset({"kubernetes_asyncio", "kubernetes", "josdk"})  # a minute and more for 100,000 objects
SLOWEST = frozenset({"kopf"})  # its index takes five milliseconds for each of 1,000 objects, and minutes for 10,000
ALL = tuple(PEERS)
MOST = tuple(name for name in PEERS if name not in SLOWEST)
FAST = tuple(name for name in MOST if name not in SLOW)
FEW = ("limit", "pyctrl", "pyctrl-compressed", "controller-runtime", "kube-rs")
BESIDE_SLOWEST = ("limit", "pyctrl", "controller-runtime", *SLOWEST)

Wanted = dict[Case, tuple[str, ...]]
"""Who does what."""


@dataclass(frozen=True)
class Part:
    """One work with all combinations of the following fields. The size of PodSets is the number of pods of each."""

    work: str
    peers: Collection[str] = ALL
    objects: Collection[int] = (10_000,)
    sizes: Collection[int] = (4096,)
    kinds: Collection[str] = ("widgets",)
    lists: Collection[str] = ("stream",)
    workers: Collection[int] = (1,)

    def cases(self) -> Iterable[Case]:
        """Yield each combination."""
        for values in product(self.kinds, self.objects, self.sizes, self.lists, self.workers):
            yield Case(self.work, *values)


def operators(loop: int, restart: int, *, loop_by: Collection[str] = ALL) -> tuple[Part, ...]:
    """Return the works of whole operators with this many PodSets, and two workers as in the example."""
    return (
        Part("latency", ALL, (1_000,), (1,), ("podsets",), workers=(2,)),
        Part("restart", ALL, (restart,), (1,), ("podsets",), workers=(2,)),
        Part("loop", loop_by, (loop,), (3,), ("podsets",), workers=(2,)),
    )


START = Part("reconcile", objects=(1,))
PLANS: dict[str, tuple[Part, ...]] = {
    "quick": (
        Part("cache", objects=(1_000,), kinds=("widgets", "pods"), lists=("stream", "pages")),
        Part("reads", objects=(1_000,)),
        Part("reconcile", objects=(1_000,), workers=(1, 16)),
        START,
        *operators(100, 1_000),
    ),
    # The most compared parts come first, in case there is no time for all
    "standard": (
        Part("cache", MOST),
        Part("cache", FAST, lists=("pages",)),
        Part("reads", MOST),
        Part("reconcile", workers=(1, 16)),
        START,
        Part("cache", MOST, kinds=("pods",)),
        Part("cache", FEW, objects=(100_000,)),
        *operators(1_000, 10_000),
        Part("cache", BESIDE_SLOWEST, objects=(2_000,)),
        Part("cache", FEW, objects=(1_000, 50_000)),
        Part("cache", FEW, sizes=(1024, 10_240)),
    ),
    "full": (
        Part("cache", MOST, sizes=(4096, 1024, 10_240), lists=("stream", "pages")),
        Part("cache", MOST, kinds=("pods",), lists=("stream", "pages")),
        Part("cache", FAST, (50_000, 100_000), (4096, 1024, 10_240), lists=("stream", "pages")),
        Part("cache", FAST, (50_000, 100_000), kinds=("pods",)),
        Part("cache", MOST, (1_000,)),
        Part("cache", BESIDE_SLOWEST, (2_000,)),
        Part("reads", MOST, (10_000, 100_000)),
        Part("reconcile", workers=(1, 16)),
        START,
        *operators(5_000, 10_000, loop_by=MOST),
        Part("loop", BESIDE_SLOWEST, (1_000,), (3,), ("podsets",), workers=(2,)),
    ),
}


def wanted(parts: Iterable[Part], lines: Collection[str], peers: Collection[str]) -> Wanted:
    """Return the cases of these lines for these peers. Cases that share a server are neighbours."""
    found: dict[Case, dict[str, None]] = {}
    for part in parts:
        for case in part.cases():
            able = [name for name in part.peers if name in peers and PEERS[name].can(case.work, case.kind, case.lists)]
            if able and any(belongs(line, case) for line in lines):
                found.setdefault(case, {}).update(dict.fromkeys(able))
    servers = list(dict.fromkeys(case.server for case in found))
    return {case: tuple(found[case]) for case in sorted(found, key=lambda case: servers.index(case.server))}


#: Approximate seconds for one run of a work: a constant part, and a part for 1,000 objects of 4 KB, by peer
FIXED = {"cache": 8.5, "reads": 8.5, "reconcile": 2.0, "latency": 31.0, "restart": 6.0, "loop": 14.0}
EACH = {"limit": 0.1, "pyctrl": 0.2, "pyctrl-compressed": 0.3, "kube-rs": 0.4, "kopf": 4.0}
OTHERS, IDLE = 0.9, 10.0  # of other peers; and the time for each object
OPERATORS = {"loop": 25.0, "restart": 0.3, "latency": 0.0}  # for 1,000 PodSets; mostly time of the server


def minutes(plan: Wanted, runs: int) -> float:
    """Estimate the minutes, with the first try of each work by each peer, which does not count."""
    warm = {(case.work, peer): _seconds(case, peer) for case, peers in reversed(plan.items()) for peer in peers}
    runs_of_all = sum(_seconds(case, peer) for case, peers in plan.items() for peer in peers)
    return (runs_of_all * runs + sum(seconds for (work, _), seconds in warm.items() if work != "loop")) / 60


def _seconds(case: Case, peer: str) -> float:
    if case.work in OPERATOR_WORKS:
        return FIXED[case.work] + OPERATORS[case.work] * case.objects / 1_000
    each = EACH.get(peer, OTHERS) * max(0.5, case.size / 4096)
    return FIXED[case.work] + each * case.objects / 1_000 + (IDLE if case.objects == 1 else 0.0)
