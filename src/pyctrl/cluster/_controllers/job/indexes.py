"""Completion indexes of an Indexed Job in the format of its status: ``0-2,5``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyctrl.kinds.core.v1 import Pod

__all__ = ["COMPLETION_INDEX", "format_indexes", "index_of", "parse_indexes"]

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def index_of(pod: Pod) -> int | None:
    """Return the completion index of a pod, or None."""
    text = pod.metadata.annotations.get(COMPLETION_INDEX, "")
    return int(text) if text.isdecimal() else None


def parse_indexes(text: str | None, completions: int | None = None) -> set[int]:
    """Parse a list of intervals. ``completions`` drops the indexes from there on, since a Job can be scaled down."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found.update(range(int(first), int(last if last.isdecimal() else first) + 1))
    return {index for index in found if completions is None or index < completions}


def format_indexes(indexes: Iterable[int]) -> str:
    """Format indexes as intervals: two consecutive ones with a comma, three or more with a dash."""
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
