"""CPU time of one process by package of pyctrl, by library, and by function.

The input is the output of cProfile in wall time without the time spent waiting for events. Shares are medians of the
faster half of several runs, in which other processes seldom disturb the same place twice. A C function that belongs to
no library named here, such as `len`, counts as its caller, as do functions made at run time. The profiler's overhead
per call, most of it in the caller, is measured with calls that do nothing, and subtracted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pstats import Stats
from statistics import median
from typing import TypeAlias

from _markdown import markdown

TOP = 12  # functions, and as many places
SMALLEST = 0.005  # the smallest share in a table

Function: TypeAlias = tuple[str, int, str]
"""As `pstats` has it: file, line, name. What is written in C has the file "~"."""
Numbers: TypeAlias = tuple[int, int, float, float]
"""Calls, those that were not recursive, own time, and time with all that was called."""
Found: TypeAlias = Mapping[Function, tuple[int, int, float, float, Mapping[Function, Numbers]]]
"""Of each function the same, but calls come second, and by whom it was called."""

#: The library of a C function by a part of its name; the first match counts.
IN_C = (
    ("msgspec", r"msgspec"),
    ("pydantic", r"pydantic"),
    ("sockets, TLS, polling", r"_socket\.|select\.|_ssl\."),
    ("asyncio", r"_asyncio|_contextvars"),
    ("aiohttp", r"aiohttp|yarl|multidict|propcache|frozenlist"),
    ("json", r"_json\."),
    ("zstandard", r"[Zz]std"),
    ("imports", r"_imp\.|marshal|builtins\.__build_class__|builtins\.exec|posix\.stat"),
)
#: The library of a Python function by a part of its file.
IN_PYTHON = (
    ("the benchmark", r"/benchmarks/peers/"),
    ("pyctrl", r"/(?:src|site-packages)/pyctrl/(\w+)"),
    ("the operator", r"/examples/"),
    ("dataclasses, enums, typing", r"/(dataclasses|enum|typing|inspect|functools|re|sre_\w+)(\.py|/)|<frozen abc>"),
    ("imports", r"<frozen (importlib|zipimport)|/importlib/"),
    ("aiohttp", r"/(aiohttp|yarl|multidict|propcache|frozenlist|aiosignal|aiohappyeyeballs)/"),
    ("pydantic", r"/(pydantic\w*|annotated_types|typing_inspection|typing_extensions)\b"),
    ("msgspec", r"/msgspec/"),
    ("asyncio", r"/(asyncio|selectors\.py)"),
    ("logging", r"/logging/"),
    ("json", r"/json/"),
)
OTHERS = "other libraries"
MODULE = re.compile(r".*/(?:src|site-packages|benchmarks|python3\.\d+)/(.+)\.py|.*/(examples/.+)\.py")
WAITING = ("<method 'poll' of 'select.epoll' objects>", "<built-in method select.select>")


@dataclass(frozen=True)
class Profile:
    """Shares of the CPU time, each from 0 to 1.

    Attributes:
        seconds: the total, under the profiler.
        places: shares by package of pyctrl and by library, largest first.
        functions: own shares by function, largest first.
    """

    seconds: float
    places: Mapping[str, float]
    functions: Mapping[str, float]


def read(paths: Sequence[Path]) -> Profile:
    """Read cProfile's output, a file per run; return the median of each share in the faster half of the runs."""
    found = [summed(Stats(str(path)).stats) for path in paths]  # type: ignore[attr-defined]  # typeshed has it not
    runs = sorted(found, key=lambda run: run.seconds)[: (len(found) + 1) // 2]
    places, functions = _medians([run.places for run in runs]), _medians([run.functions for run in runs])
    return Profile(median(run.seconds for run in runs), places, functions)


def _medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for run in runs for name in run)
    return _sorted({name: median(run.get(name, 0.0) for run in runs) for name in names})


def summed(found: Found) -> Profile:
    """Sum the own times by place and by function."""
    passive, active = _added(found, "nothing"), _added(found, "call_nothing")
    corrected = _corrected(found, passive, active).items()
    times = {function: own for function, own in corrected if not _is_ours(function) and function[2] not in WAITING}
    seconds = sum(times.values()) or 1.0
    places: dict[str, float] = defaultdict(float)
    functions: dict[str, float] = defaultdict(float)
    for function, own in times.items():
        functions[called(function)] += own / seconds
        by = {caller: max(0.0, numbers[2] - numbers[0] * passive) for caller, numbers in found[function][4].items()}
        for place, share in _shares(function, own, by):
            places[place] += share / seconds
    return Profile(seconds, _sorted(places), _sorted(functions))


def _corrected(found: Found, passive: float, active: float) -> dict[Function, float]:
    """Return own times without the profiler's overhead for each call to or from a function."""
    made: dict[Function, int] = defaultdict(int)
    for _, _, _, _, callers in found.values():
        for caller, numbers in callers.items():
            made[caller] += numbers[0]
    times = {function: own - calls * passive for function, (_, calls, own, _, _) in found.items()}
    return {function: max(0.0, own - made[function] * active) for function, own in times.items()}


def _added(found: Found, name: str) -> float:
    """Return the overhead of a call that does nothing, in seconds, in the called function or in its caller."""
    calls = sum(calls for function, (_, calls, _, _, _) in found.items() if _is_ours(function, "nothing"))
    own = sum(own for function, (_, _, own, _, _) in found.items() if _is_ours(function, name))
    return own / calls if calls else 0.0


def _is_ours(function: Function, name: str | None = None) -> bool:
    """Whether a function is part of the profiler."""
    return function[0].endswith("/peers/_profiler.py") and name in {None, function[2]}


def _sorted(shares: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(shares.items(), key=lambda each: -each[1]))


def _shares(function: Function, own: float, by: Mapping[Function, float]) -> Iterator[tuple[str, float]]:
    """Yield the places of a function, and the part of its own time for each.

    Args:
        by: the part for each caller.
    """
    total = sum(by.values())
    if (place := place_of(function)) is not None or not total:
        yield place or OTHERS, own
        return
    for caller, seconds in by.items():
        # A caller without a place, such as `map` or `sorted`, is not followed further
        yield place_of(caller) or OTHERS, own * seconds / total


def place_of(function: Function) -> str | None:
    """Return the package or library of a function, or None if it counts as its caller."""
    file, _, name = function
    if file == "~":
        return next((place for place, words in IN_C if re.search(words, name)), None)
    for place, words in IN_PYTHON:
        if fits := re.search(words, file):
            return f"pyctrl.{fits[1]}" if place == "pyctrl" else place
    return None if file.startswith("<") else OTHERS


def called(function: Function) -> str:
    """Return the readable name of a function: its place and its name."""
    file, name = function[0], re.sub(r" at 0x[0-9a-f]+", "", function[2])
    if fits := re.fullmatch(r"<(?:method|slot wrapper) '(\w+)' of '([\w.]+)' objects>", name):
        return f"{fits[2].rpartition('.')[2]}.{fits[1]}"
    if fits := re.fullmatch(r"<built-in method (?:builtins\.)?(.+)>", name):
        return fits[1]
    if file == "~":
        return name.strip("<>")
    if fits := MODULE.fullmatch(file):
        module = fits[1] or fits[2]
    else:
        module = "/".join(Path(file.strip("<>").removeprefix("frozen ").removesuffix(".py")).parts[-2:])
    return f"{module}/{name}".replace("/", ".")


def named(line: str) -> str:
    """Return the name of a line's profile. That of the memory is the relist, where memory peaks."""
    return {"memory": "relist"}.get(line, line)


def table(profile: Profile) -> str:
    """Return the largest places and functions, side by side."""
    rows = [
        [place, _percent(share), name, _percent(own)]
        for (place, share), (name, own) in zip(_largest(profile.places), _largest(profile.functions), strict=True)
    ]
    return markdown(["by room and library", "%", "function, by its own time", "%"], [row for row in rows if any(row)])


def _largest(shares: Mapping[str, float]) -> list[tuple[str, float | None]]:
    found = [(name, share) for name, share in shares.items() if share >= SMALLEST][:TOP]
    return [*found, *[("", None)] * (TOP - len(found))]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


def overview(profiles: Mapping[str, Profile]) -> str:
    """Return the shares of all places in all lines, in one table."""
    total: dict[str, float] = defaultdict(float)
    for profile in profiles.values():
        for place, share in profile.places.items():
            total[place] += share
    shown = [place for place in _sorted(total) if any(each.places.get(place, 0) >= 0.01 for each in profiles.values())]
    rows = [[place, *(_percent(each.places.get(place) or None) for each in profiles.values())] for place in shown]
    return markdown(["% of CPU time", *profiles], rows)


def put(text: str, tables: Mapping[str, str]) -> str:
    """Return a document with the content between the marks replaced by these tables.

    Raises:
        KeyError: if there are no marks of that name.
    """
    for name, made in tables.items():
        marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marks.search(text):
            raise KeyError(name)
        text = marks.sub(lambda found, made=made: f"{found[1]}\n{made}\n\n{found[2]}", text)  # type: ignore[misc]
    return text
