"""Timeline of a story: at most ten lines with the entries of a history that explain a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyctrl.simulation._act_words import act_noun, act_text, error_text
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._fault_words import sentence
from pyctrl.simulation._history import (
    Called,
    Delivered,
    Entry,
    FaultApplied,
    ProcessChanged,
    Reconciled,
    Rested,
    Sent,
)
from pyctrl.simulation._schedule import FaultKind

__all__ = ["MOST_LINES", "timeline"]

MOST_LINES = 10
LEAST_JOINED = 4  # lines with the same text that are one
USER = "user"

_HELD = (FaultKind.DELAY, FaultKind.COALESCE, FaultKind.HIDE)  # faults whose event arrives later
_VALUES = re.compile(r": \S+ .* → .*|\(v\d+\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of the timeline. The heaviest ones are kept; ``place`` is its position in the history."""

    at: float
    actor: str
    text: str
    weight: int
    place: int
    source: str = ""
    times: int = 1
    until: float = 0.0

    def __str__(self) -> str:
        more = f", {self.times} times until {self.until:.2f} s" if self.times > 1 else ""
        source = f"  ({self.source})" if self.source else ""
        return f"{self.at:8.2f} s  {self.actor:<10}  {self.text}{more}{source}"


def timeline(evidence: Evidence) -> tuple[str, ...]:
    """Return what happened, in order, as at most ten lines."""
    lines = _joined(_lines(evidence))
    kept = sorted(lines, key=lambda line: (-line.weight, line.place))[:MOST_LINES]
    return tuple(map(str, sorted(kept, key=lambda line: (line.at, line.place))))


def _joined(lines: Iterable[_Line]) -> list[_Line]:
    """Join lines with the same text into the first one, if there are so many that they hide the others."""
    found: dict[tuple[str, str, str], list[_Line]] = {}
    for line in lines:
        found.setdefault((line.actor, _VALUES.sub("", line.text), line.source), []).append(line)
    return [each for same in found.values() for each in (same if len(same) < LEAST_JOINED else [_one(same)])]


def _one(same: Sequence[_Line]) -> _Line:
    weight = max(line.weight for line in same)
    return replace(same[0], times=len(same), until=same[-1].at, weight=weight)


def _lines(evidence: Evidence) -> Iterator[_Line]:
    context = _context(evidence)
    extra = {id(entry) for entry in (*evidence.extra, *evidence.extra_calls)}
    place = 0
    for place, entry in enumerate(evidence.run.history):
        found = _line(evidence, entry, is_extra=id(entry) in extra, is_context=id(entry) in context)
        if found is not None:
            text, weight, source = found
            yield _Line(at=entry.at, actor=_actor(entry), text=text, weight=weight, place=place, source=_short(source))
    yield from _never(evidence, place + 1)


def _context(evidence: Evidence) -> set[int]:
    """Return the entries before the first fault that say what the scenario was doing."""
    users = [entry for entry in evidence.run.history.of(Sent) if entry.process == USER and entry.has_effect]
    before = [entry for entry in users if entry.at <= evidence.began]
    return {id(entry) for entry in before[-2:]}


def _never(evidence: Evidence, place: int) -> Iterator[_Line]:
    for number, lost in enumerate(evidence.unmade):
        yield _Line(
            at=evidence.run.quiet_from or evidence.began,
            actor=lost.process,
            text=f"never: {act_noun(evidence, lost)}, which follows at {lost.at:.2f} s without the fault",
            weight=75 - number,
            place=place + number,
            source=_short(lost.line),
        )


def _actor(entry: Entry) -> str:
    return "fault" if isinstance(entry, FaultApplied) else entry.process or "cluster"


def _line(evidence: Evidence, entry: Entry, *, is_extra: bool, is_context: bool) -> tuple[str, int, str] | None:
    """Return the text of an entry, its weight and its source line; None if it explains nothing."""
    is_later = entry.at >= evidence.began
    match entry:
        case FaultApplied():
            hit = evidence.hit(entry.fault) or evidence.planned(entry.fault)
            what = act_noun(evidence, hit) if hit else ""
            return sentence(entry.fault, what, named=evidence.named), 100, hit.line if hit else ""
        case Sent():
            weight = _weight(evidence, entry, is_extra=is_extra, is_context=is_context)
            return (act_text(evidence, entry), weight, entry.line) if weight else None
        case Called() if is_extra or (is_later and entry.error):
            return act_text(evidence, entry), 80 if is_extra else 50, entry.line
        case ProcessChanged() if is_later and entry.state != "killed":
            return f"{entry.state}{f': {error_text(entry.text)}' if entry.text else ''}", 70, ""
        case Reconciled() if is_later and entry.error:
            return f"reconcile {entry.request} fails: {error_text(entry.error)}", 45, ""
        case Delivered() if is_later and _was_held(evidence, entry):
            return f"the event arrives: {entry.type} {evidence.name(entry.target)} (v{entry.version})", 65, ""
        case Rested() if not entry.is_quiet:
            return "the world does not come to rest", 60, ""
    return None


def _weight(evidence: Evidence, entry: Sent, *, is_extra: bool, is_context: bool) -> int:
    is_later = entry.at >= evidence.began
    if entry.process == USER:
        return 66 if is_context or (is_later and entry.has_effect) else 0
    if is_extra:
        return 80
    if entry.point is None or _is_hit(evidence, entry):
        return 0
    if is_later and entry.status >= 400:
        return 62
    return 55 if entry.has_effect and entry.target in evidence.concerned else 0


def _is_hit(evidence: Evidence, entry: Sent) -> bool:
    """Return whether a fault was at this write, so that its own line says what became of it."""
    return any(applied.fault.point == entry.point for applied in evidence.faults)


def _was_held(evidence: Evidence, entry: Delivered) -> bool:
    """Return whether this is an event that a fault held back."""
    return any(fault.point == entry.point for fault in evidence.faults_of(*_HELD))


def _short(source: str) -> str:
    """Return the last two parts of a path, which are enough to find it."""
    return "/".join(source.split("/")[-2:])
