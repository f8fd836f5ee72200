"""Rings as text, in kubectl's manner, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from pyctrl.cli._durations import shown_duration
from pyctrl.manager import Ring, RingMember

__all__ = ["lines_of", "to_wire"]

_COLUMNS = ("MEMBER", "STATE", "SLOTS", "REQUESTS", "MOVES", "VERSION", "WEIGHT")
_WIDE_COLUMNS = ("CANARY", "RECONCILES", "ERRORS", "REPLICA")
_NAMED = 2  # members for which another one waits are named
_GAP = "   "  # between two columns, as in kubectl


def lines_of(rings: Sequence[Ring], now: datetime | None, *, is_wide: bool) -> Iterator[str]:
    """Yield the lines of rings: for each its table, and what is true of the whole ring.

    Args:
        rings: the rings.
        now: the time from which ages are counted; None: no ages.
        is_wide: with `_WIDE_COLUMNS`, and the ranges of hashes.
    """
    for place, ring in enumerate(rings):
        if place:
            yield ""
        yield f"{ring.namespace}/{ring.name}"
        yield ""
        columns = (*_COLUMNS, *(["RENEWED"] if now is not None else []), *(_WIDE_COLUMNS if is_wide else ()))
        rows = (_cells(each, ring, now) for each in ring.members)
        yield from _aligned([columns, *(row[: len(columns)] for row in rows)])
        yield ""
        yield from _summary(ring)
        if is_wide:
            yield from chain.from_iterable(_ranges(each) for each in ring.members)


def to_wire(rings: Sequence[Ring]) -> dict[str, Any]:
    """Return rings for JSON."""
    return {"rings": [_ring_to_wire(ring) for ring in rings]}


# -- text ------------------------------------------------------------------------------------------------------------


def _cells(member: RingMember, ring: Ring, now: datetime | None) -> tuple[str, ...]:
    return (
        member.lease,
        _state(member),
        f"{member.slots} ({member.slots / ring.slots:.1%})",
        str(member.requests),
        str(member.moves),
        member.version or "<none>",
        f"{member.weight:g}",
        *([_age(member.renewed, now)] if now is not None else []),
        f"{member.canary:.0%}" if member.canary < 1 else "<none>",
        str(member.reconciles),
        str(member.errors),
        member.identity,
    )


def _state(member: RingMember) -> str:
    if member.phase != "joining":
        return member.phase
    named, rest = member.awaited[:_NAMED], len(member.awaited) - _NAMED
    return f"joining ({', '.join(named)}{f' and {rest} more' if rest > 0 else ''})"


def _age(renewed: datetime | None, now: datetime) -> str:
    return "<unknown>" if renewed is None else shown_duration(now - renewed)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines whose columns begin at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _summary(ring: Ring) -> Iterator[str]:
    ranges = sum(len(each.ranges) for each in ring.members)
    yield f"Ranges:      {ranges}, of {ring.slots} slots"
    imbalance, busiest = ring.imbalance, ring.busiest
    if imbalance is not None and busiest is not None:
        yield f"Imbalance:   {imbalance:.2f} ({busiest.lease} has the most for its share; 1 is fair)"
    if ring.unassigned:
        share = ring.unassigned / ring.slots
        yield f"Unassigned:  {ring.unassigned} ({share:.1%}), until members have joined, left or expired"


def _ranges(member: RingMember) -> Iterator[str]:
    yield ""
    yield f"Ranges of {member.lease}:"
    yield from (f"  {each}" for each in member.ranges)
    if not member.ranges:
        yield "  <none>"


# -- JSON ------------------------------------------------------------------------------------------------------------


def _ring_to_wire(ring: Ring) -> dict[str, Any]:
    return {
        "name": ring.name,
        "namespace": ring.namespace,
        "slots": ring.slots,
        "unassigned": ring.unassigned,
        "imbalance": None if ring.imbalance is None else round(ring.imbalance, 4),
        "members": [_member_to_wire(each) for each in ring.members],
    }


def _member_to_wire(member: RingMember) -> dict[str, Any]:
    return {
        "name": member.lease,
        "replica": member.identity,
        "state": member.phase,
        "awaited": list(member.awaited),
        "slots": member.slots,
        "ranges": [str(each) for each in member.ranges],
        "requests": member.requests,
        "moves": member.moves,
        "version": member.version,
        "weight": member.weight,
        "canary": member.canary,
        "reconciles": member.reconciles,
        "errors": member.errors,
        "renewed": None if member.renewed is None else member.renewed.isoformat().replace("+00:00", "Z"),
    }
