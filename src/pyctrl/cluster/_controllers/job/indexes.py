"""Completion indexes of an Indexed Job, as its status writes them: ``0-2,5``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyctrl.kinds.core.v1 import Pod

__all__ = ["COMPLETION_INDEX", "format_indexes", "index_of", "parse_indexes"]

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def index_of(pod: Pod) -> int | None:
    """Return the index that a pod works on, None when it has none."""
    text = pod.metadata.annotations.get(COMPLETION_INDEX, "")
    return int(text) if text.isdecimal() else None


def parse_indexes(text: str | None, completions: int | None = None) -> set[int]:
    """Read a list of intervals; with ``completions`` indexes from there on are left out, since a Job can shrink."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found.update(range(int(first), int(last if last.isdecimal() else first) + 1))
    return {index for index in found if completions is None or index < completions}


def format_indexes(indexes: Iterable[int]) -> str:
    """Write indexes as intervals; two that follow each other are written with a comma, three and more with a dash."""
    return ",".join(_format_interval(first, last) for first, last in _intervals(sorted(indexes)))


def _intervals(indexes: list[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for index in indexes:
        if first is None or last is None:
            first = last = index
        elif index == last + 1:
            last = index
        else:
            yield first, last
            first = last = index
    if first is not None and last is not None:
        yield first, last


def _format_interval(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"
