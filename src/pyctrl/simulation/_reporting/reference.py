"""The reference run as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyctrl.simulation._act_words import act_text
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._history import Called, Delivered, Entry, Reconciled, ReconcileStarted, Rested, Sent
from pyctrl.simulation._run import Run

__all__ = ["ReferenceRow", "reference_rows"]


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A row: when, who, what, the line of the source, and the class of its style."""

    at: str
    who: str
    what: str
    where: str = ""
    kind: str = ""


def reference_rows(run: Run) -> Iterator[ReferenceRow]:
    """Yield the entries of a run that a reader can follow, in order."""
    evidence = Evidence(run, run, ())
    for entry in run.history:
        text = _text(evidence, entry)
        if text:
            where = entry.line if isinstance(entry, Sent | Called) else ""
            yield ReferenceRow(f"{entry.at:.2f} s", entry.process or "cluster", text, where)


def _text(evidence: Evidence, entry: Entry) -> str:
    match entry:
        case Sent() | Called():
            return act_text(evidence, entry)
        case ReconcileStarted():
            causes = f", because of {', '.join(entry.causes)}" if entry.causes else ""
            return f"reconciles {entry.controller} {entry.request}{causes}"
        case Reconciled():
            reads = f", reads {', '.join(entry.reads)}" if entry.reads else ""
            return f"ends reconcile {entry.request}: {entry.result or 'done'}{reads}"
        case Delivered():
            return f"gets the event {entry.type} of {evidence.name(entry.target)} (v{entry.version})"
        case Rested():
            return f"the world is at rest ({entry.phase}{f' {entry.number}' if entry.number else ''})"
    return ""
