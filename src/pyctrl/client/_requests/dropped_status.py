"""Reports of status changes that the server drops from an update or patch of the object.

Where the status is a sub-resource the server drops them silently. Tests and ``pyctrl dev`` report them. ``pyctrl run``
does not: the comparison costs some microseconds for each update, and the user of a program cannot change its code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.api import GroupVersionKind, Key

__all__ = ["report_dropped_status", "reporting_dropped_status"]

_reports: list[Callable[[str], object]] = []


@contextmanager
def reporting_dropped_status(report: Callable[[str], object]) -> Iterator[None]:
    """Call ``report`` in this block for each update or patch of an object whose status change is dropped.

    The text names the object, the field, and the call to use instead. The block covers all clients of the process.
    pyctrl's pytest plugin warns with it, and ``pyctrl dev`` logs it.
    """
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


def report_dropped_status(gvk: GroupVersionKind, key: Key, verb: str, body: bytes | None, answer: bytes) -> None:
    """Report a status in the body that the answer does not have, for a kind whose status is a sub-resource."""
    if not _reports:
        return
    sent, kept = _status(body), _status(answer)
    field = _first_difference(sent, kept)
    if field is None:
        return
    text = (
        f"{verb} of {gvk.kind} {key} does not write status{field}, which was changed: "
        f"the status is a sub-resource; use client.status.{verb}"
    )
    for report in _reports:
        report(text)


def _status(document: bytes | None) -> Any:
    try:
        found = msgspec.json.decode(document or b"null")
    except UNREADABLE:
        return None
    return found.get("status") if isinstance(found, Mapping) else None


def _first_difference(sent: Any, kept: Any) -> str | None:
    """Return the path of the first value that was sent and not kept; fields that were not sent count as kept."""
    if isinstance(sent, Mapping):
        there = kept if isinstance(kept, Mapping) else {}
        for name, value in sent.items():
            if (below := _first_difference(value, there.get(name))) is not None:
                return f".{name}{below}"
        return None
    return None if sent is None or sent == kept or (not sent and not kept) else ""
