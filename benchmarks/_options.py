"""Command line of run.py: its options, and the parts of a plan that they select."""

from __future__ import annotations

import argparse
from pathlib import Path

from _lines import LINES
from _peers import BUILT, PEERS
from _plans import PLANS, START, Part, operators
from _results import OURS
from _works import OPERATOR_WORKS

EVERY = "all"
SMALLEST = {"widgets": 1024, "pods": 2048}  # bytes, to a fiftieth


def options(about: str | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", choices=list(PLANS), default="standard", help="default: %(default)s")
    parser.add_argument("--quick", action="store_const", dest="plan", const="quick", help="--plan quick: does it work?")
    parser.add_argument("--only", nargs="+", choices=list(LINES), metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--runs", type=int, help="that count; default: 5, in the quick plan 1")
    plan = parser.add_argument_group("instead of what the plan has, by all peers that can")
    plan.add_argument("--objects", nargs="+", type=int, help="how many custom resources or pods; default: 10000")
    plan.add_argument("--size", nargs="+", type=int, help="bytes of each; default: 4096")
    plan.add_argument("--kinds", nargs="+", choices=["widgets", "pods"], help="default: widgets")
    plan.add_argument("--lists", nargs="+", choices=["stream", "pages"], help="default: stream")
    plan.add_argument("--workers", nargs="+", type=int, help="of no-op reconciles; default: 1 16")
    plan.add_argument("--podsets", type=int, help="of the whole loop, and of restarts; default: 1000, 10000")
    parser.add_argument("--out", type=Path, help="the JSON file; default: benchmarks/.cache/results.json")
    parser.add_argument("--add-to", type=Path, metavar="FILE", help="take in what FILE has, and write it")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print FILE, or what flags choose of it")
    parser.add_argument("--long", action="store_true", help="print the table of all peers for every size, too")
    parser.add_argument("--build", action="store_true", help="build what is wanted and measure nothing")
    inside = parser.add_argument_group("instead of measuring beside peers, what is inside")
    inside.add_argument(
        "--profile", nargs="+", choices=[EVERY, *LINES], metavar="LINE", help="where pyctrl's CPU time goes"
    )
    inside.add_argument("--limits", action="store_true", help="what the physical limits are made of")
    inside.add_argument("--into", type=Path, metavar="FILE", help="put these tables between their marks in FILE, too")
    parser.add_argument("--loud", action="store_true", help="show what peers print on stderr")
    told = parser.parse_args()
    if (small := _too_small(told)) is not None:
        parser.error(small)
    return _completed(told)


def _too_small(told: argparse.Namespace) -> str | None:
    """Return why objects cannot be this small: the table would show a wrong size."""
    for kind in told.kinds or ["widgets"]:
        if any(size < SMALLEST[kind] for size in told.size or ()):
            return f"{kind} have at least {SMALLEST[kind]:,} bytes"
    return None


def _completed(told: argparse.Namespace) -> argparse.Namespace:
    if told.profile:
        told.profile = list(LINES) if EVERY in told.profile else told.profile
        told.peers = [OURS]
    told.only, told.peers = told.only or list(LINES), told.peers or list(PEERS)
    if not told.profile:
        told.runs = told.runs or (1 if told.plan == "quick" else 5)
    told.out = (told.out or told.add_to or BUILT / "results.json").absolute()
    return told


def parts(told: argparse.Namespace) -> tuple[Part, ...]:
    """Return the parts to run: those of the plan, or those of the command line."""
    if not any((told.objects, told.size, told.kinds, told.lists, told.workers, told.podsets)):
        return PLANS[told.plan]
    objects, sizes = told.objects or [10_000], told.size or [4096]
    lists, kinds = told.lists or ["stream"], told.kinds or ["widgets"]
    return (
        Part("cache", objects=objects, sizes=sizes, kinds=kinds, lists=lists),
        Part("reads", objects=objects, sizes=sizes, lists=lists[:1]),
        Part("reconcile", objects=objects, sizes=sizes, lists=lists[:1], workers=told.workers or (1, 16)),
        START,
        *operators(told.podsets or 1_000, told.podsets or 10_000),
    )


def profiled(told: argparse.Namespace, line: str) -> argparse.Namespace:
    """Return the options for a profile of one line, with another file, because the profiler changes the numbers."""
    place = BUILT / "profiles"
    place.mkdir(parents=True, exist_ok=True)
    runs = told.runs or (3 if set(LINES[line].works) & OPERATOR_WORKS else 5)
    return argparse.Namespace(
        **{**vars(told), "profile": line, "only": [line], "runs": runs, "out": place / f"{line}.json"}
    )


def profile_of(told: argparse.Namespace, number: int) -> Path:
    """Return the file for the profile of a run."""
    out: Path = told.out
    return out.with_name(f"{out.stem}-{number}.profile")
