"""Overview of many sizes: our cost relative to the peers, and its growth with the number of objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from _lines import MEGABYTES, MICRO
from _markdown import markdown, scaled, times
from _results import LIMIT, OURS, Results, ratio
from _works import Case

COMPARED = ("controller-runtime", "kube-rs")  # peers with all sizes
COMPRESSED = "pyctrl-compressed"
COSTS = (("sync", "sync_cpu", "sync µs"), ("events", "events_cpu", "event µs"))  # line, number, heading
SHAPES = ("sync", "events", "memory")

Group = list[Case]


def groups(results: Results) -> Iterator[Group]:
    """Yield the cache cases that differ only in number and size, if there are several."""
    found: dict[tuple[str, str], Group] = {}
    for case in results.cases({"cache"}):
        found.setdefault((case.kind, case.lists), []).append(case)
    for group in found.values():
        if len(group) > 1:
            yield sorted(group, key=lambda case: (case.size, case.objects))


def overview(results: Results, group: Group, lines: Collection[str]) -> str:
    """Return a row per number and size: our cost, its multiple of the limit, the peers' multiples of it, and memory."""
    costs = [(name, heading) for line, name, heading in COSTS if line in lines]
    everybody = {peer for case in group for peer in results.rows[case]}
    others = [peer for peer in COMPARED if peer in everybody]
    residents = [peer for peer in (OURS, COMPRESSED, *others) if peer in everybody] if "memory" in lines else []
    heads = ["objects", "bytes"]
    for _, heading in costs:
        heads += [heading, "× limit", *(f"{_short(peer)} ×" for peer in others)]
    heads += ["MB objects", *(f"MB {_short(peer)}" for peer in residents)] if residents else []
    names = [name for name, _ in costs]
    rows = [
        [
            f"{case.objects:,}",
            f"{case.size:,}",
            *_costs(results, case, names, others),
            *_memory(results, case, residents),
        ]
        for case in group
    ]
    about = f"all sizes: {group[0].kind}, lists by {group[0].lists}"
    return f"{about}; µs of pyctrl, times that of others, MB after the sync\n\n" + markdown(heads, rows, names=0)


def _short(peer: str) -> str:
    return {"controller-runtime": "Go", COMPRESSED: "compressed"}.get(peer, peer)


def _costs(results: Results, case: Case, names: list[str], others: list[str]) -> Iterator[str]:
    for name in names:
        ours = results.median(case, OURS, name)
        yield scaled(ours, MICRO)
        yield times(ratio(ours, results.median(case, LIMIT, name)))
        for peer in others:
            yield times(ratio(results.median(case, peer, name), ours))


def _memory(results: Results, case: Case, residents: list[str]) -> Iterator[str]:
    if residents:
        yield scaled(results.object_bytes.get(case.server), MEGABYTES)
    for peer in residents:
        yield scaled(results.median(case, peer, "synced_bytes"), MEGABYTES)


def growth(results: Results, group: Group) -> str | None:
    """Return the cost of an object among few and among many, for each size and peer with several numbers."""
    counts = sorted({case.objects for case in group})
    whats = ("µs/object", "µs/event", "KB/object")
    heads = [
        "bytes",
        "peer",
        *(f"{what if not n else ''} {_thousands(count)}".strip() for what in whats for n, count in enumerate(counts)),
    ]
    rows: list[list[str]] = []
    for size in dict.fromkeys(case.size for case in group):
        cases = {case.objects: case for case in group if case.size == size}
        peers = dict.fromkeys(peer for case in cases.values() for peer in results.rows[case])
        several = [peer for peer in peers if sum(peer in results.rows[case] for case in cases.values()) > 1]
        each = [cases.get(count) for count in counts]
        rows += [[f"{size:,}", peer, *_grown(results, each, peer)] for peer in several]
    if not rows:
        return None
    about = f"growth with the number of objects: {group[0].kind}, lists by {group[0].lists}"
    return f"{about}\n\n" + markdown(heads, rows, names=2)


def _grown(results: Results, cases: list[Case | None], peer: str) -> Iterator[str]:
    for name in ("sync_cpu", "events_cpu"):
        for case in cases:
            yield scaled(results.median(case, peer, name), MICRO) if case else ""
    for case in cases:
        yield scaled(_added(results, case, peer), 1e-3) if case else ""


def _thousands(count: int) -> str:
    return f"{count // 1000}k" if count % 1000 == 0 else str(count)


def _added(results: Results, case: Case, peer: str) -> float | None:
    """Return the bytes per object over the resident memory before the first object."""
    before, after = results.median(case, peer, "ready_bytes"), results.median(case, peer, "synced_bytes")
    return None if before is None or after is None else (after - before) / case.objects
