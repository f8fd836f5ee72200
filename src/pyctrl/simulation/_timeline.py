"""Timeline of a story: at most ten lines with the entries of a history that explain a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyctrl.simulation._evidence import Act, Evidence
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
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion

__all__ = ["MOST_LINES", "act_text", "timeline"]

MOST_LINES = 10
USER = "user"

_VERBS = {
    "create": "creates",
    "update": "updates",
    "patch": "patches",
    "apply": "applies",
    "delete": "deletes",
    "deletecollection": "deletes all",
}


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
    """Join the lines with the same text into the first one."""
    found: dict[tuple[str, str, str], _Line] = {}
    for line in lines:
        key = (line.actor, line.text.partition(" (v")[0], line.source)
        first = found.get(key)
        if first is None:
            found[key] = line
        else:
            weight = max(first.weight, line.weight)
            found[key] = replace(first, times=first.times + 1, until=line.at, weight=weight)
    return list(found.values())


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
        text = f"never: {act_text(evidence, lost, is_noun=True)}, which follows at {lost.at:.2f} s without the fault"
        yield _Line(
            at=evidence.run.quiet_from or evidence.began,
            actor=lost.process,
            text=text,
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
            return (
                sentence(entry.fault, act_text(evidence, hit, is_noun=True) if hit else ""),
                100,
                hit.line if hit else "",
            )
        case Sent():
            weight = _weight(evidence, entry, is_extra=is_extra, is_context=is_context)
            return (act_text(evidence, entry), weight, entry.line) if weight else None
        case Called() if is_extra or (is_later and entry.error):
            return act_text(evidence, entry), 80 if is_extra else 50, entry.line
        case ProcessChanged() if is_later:
            return _process(entry), 20 if entry.state.startswith(("was ", "killed")) else 70, ""
        case Reconciled() if is_later and entry.error:
            return f"reconcile {entry.request} fails: {_cut(entry.error)}", 45, ""
        case Delivered() if is_later and _is_the_event(evidence, entry):
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
    if entry.point is None or (not is_later and entry.target not in evidence.concerned):
        return 0
    if is_later and entry.status >= 400:
        return 62
    return 55 if entry.has_effect and entry.target in evidence.concerned else 0


def act_text(evidence: Evidence, entry: Act, *, is_noun: bool = False) -> str:
    """Return a write or a call with the names of its objects: ``creates Job default/web (v12)``."""
    if isinstance(entry, Called):
        failed = f", which raises {_cut(entry.error)}" if entry.error and not is_noun else ""
        return f"{entry.call if is_noun else f'calls {entry.call}'}{failed}"
    part = f" {entry.subresource} of" if entry.subresource else ""
    verb = entry.verb if is_noun else _VERBS.get(entry.verb, entry.verb)
    text = f"{verb}{part} {evidence.name(entry.target)}"
    if is_noun:
        return text
    if entry.status >= 400:
        return f"{text}: {entry.status} {entry.reason}"
    if not entry.status:
        return f"{text}, without an answer"
    return text + (f" (v{version})" if (version := _version(entry.answer)) else "")


def _version(answer: Any) -> str:
    metadata = answer.get("metadata") if isinstance(answer, Mapping) else None
    return str(metadata.get("resourceVersion", "")) if isinstance(metadata, Mapping) else ""


def _process(entry: ProcessChanged) -> str:
    return f"{entry.state}{f': {_cut(entry.text)}' if entry.text else ''}"


def _is_the_event(evidence: Evidence, entry: Delivered) -> bool:
    """Return whether this is an event that a fault held back."""
    held = evidence.faults_of(FaultKind.DELAY, FaultKind.COALESCE, FaultKind.HIDE)
    return any(_same_object(fault, entry) for fault in held)


def _same_object(fault: Fault, entry: Delivered) -> bool:
    return fault.point.occasion is Occasion.EVENT and fault.point == entry.point


def _short(source: str) -> str:
    """Return the last two parts of a path, which are enough to find it."""
    return "/".join(source.split("/")[-2:]) if source.startswith("/") else source


def _cut(text: str, most: int = 100) -> str:
    first = text.strip().partition("\n")[0]
    return first if len(first) <= most else f"{first[: most - 1]}…"
