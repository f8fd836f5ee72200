"""Reconciles that cause themselves: found by counting runs, explained by the fields that each run writes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

import msgspec

from pyctrl.controller._causes import Cause, ChangeCause
from pyctrl.controller._request import Request

__all__ = ["HotLoopListener", "HotLoops"]

log = logging.getLogger("pyctrl.controller")

#: Runs in a row that each were caused only by this process's update of one object. A reconcile that makes one step at a
#: time and writes each into the status needs fewer; at 144 a second, as was seen, it is most of a second.
UPDATES = 100
#: The same for runs that create objects, or write another one each time: making a thousand objects one by one is work.
WRITES = 1000
COMPARED = 3  # the last writes of a row, whose differences are looked at: a microsecond for each 100 bytes
REMEMBERED = 10_000  # requests whose rows are counted at a time; an object at rest has none
REMINDER = 300.0  # seconds between two warnings of a controller about the same fields
SHOWN = 5  # fields in a message

FIX = "write only when something differs from what was read, or filter with generation_changed"
_CHANGE_EACH_TIME = {"resourceVersion", "generation", "managedFields"}


@runtime_checkable
class HotLoopListener(Protocol):
    """An event loop that wants to know what may keep it busy; that of virtual time does."""

    def notice_hot_loop(self, key: object, text: str, runs: int, *, factor: int) -> None:
        """Take note of further runs in a row that cause themselves; ``factor`` times as many as usual are an error."""


class _Streak(msgspec.Struct):
    """Runs of one request in a row, each caused by nothing but writes of this process."""

    written: ChangeCause
    since: float
    runs: int = 0
    updates: int = 0  # the last of them, caused by updates of what is written
    state: bytes | None = None
    fields: dict[str, int] = {}
    compared: int = 0


class HotLoops:
    """Warns when a controller's own writes cause its next runs, with the fields that each run writes.

    Costs a dictionary lookup for each run that only own writes have caused, and for others while any row is counted.

    Args:
        controller: its name.
        state_of: returns the object of a change as this process sees it now, in JSON, or None.
    """

    def __init__(self, controller: str, state_of: Callable[[ChangeCause], bytes | None]) -> None:
        self._controller, self._state_of = controller, state_of
        #: By request; a run with another cause ends its row.
        self.rows: dict[Request, _Streak] = {}
        self._warned: dict[object, float] = {}
        #: Called with the request and what each run writes, each time as many runs in a row have caused themselves.
        self.on_loop: Callable[[Request, str], None] | None = None

    def caused_itself(self, request: Request, causes: tuple[Cause, ...]) -> None:
        """Take note of a run that has ended and that nothing but writes of this process had caused."""
        written = [cause for cause in causes if isinstance(cause, ChangeCause)]
        row = self.rows.get(request)
        if row is None:
            row = self._begin(request, written[-1])
        row.runs += 1
        again = [cause for cause in written if cause.change == "updated" and _is_same(cause, row.written)]
        if again:
            row.written, row.updates = again[0], row.updates + 1
        else:
            row.written, row.updates, row.state, row.fields, row.compared = written[-1], 0, None, {}, 0
        if row.updates >= UPDATES - COMPARED:
            self._compare(row)
        if row.updates >= UPDATES or row.runs >= WRITES:
            del self.rows[request]
            self._report(request, row)

    def _begin(self, request: Request, written: ChangeCause) -> _Streak:
        row = self.rows[request] = _Streak(written, asyncio.get_running_loop().time())
        if len(self.rows) > REMEMBERED:
            del self.rows[next(iter(self.rows))]
        return row

    def _compare(self, row: _Streak) -> None:
        """Note which fields this run has changed."""
        before, row.state = row.state, self._state_of(row.written)
        if before is not None and row.state is not None:
            row.compared += 1
            for field in _differences(msgspec.json.decode(before), msgspec.json.decode(row.state)):
                row.fields[field] = row.fields.get(field, 0) + 1

    def _report(self, request: Request, row: _Streak) -> None:
        now = asyncio.get_running_loop().time()
        what = f"{row.written.kind.kind} {row.written.key}"
        fields = _written_each_time(row)
        is_one_object = row.updates >= UPDATES
        key = (row.written.kind, fields if is_one_object else None)
        if now - self._warned.get(key, -REMINDER) >= REMINDER:
            self._warned[key] = now
            facts: dict[str, object] = {"written": what, "runs": row.runs, "seconds": round(now - row.since, 3)}
            if is_one_object:
                facts["fields"] = fields
            log.warning("Reconcile loop: each run is caused by what the last one wrote", extra=facts | {"cure": FIX})
        loop = asyncio.get_running_loop()
        done = f"each run writes {fields} of {what}" if is_one_object else f"each run writes, the last one {what}"
        if self.on_loop is not None:
            self.on_loop(request, done)
        if isinstance(loop, HotLoopListener):
            text = f"controller {self._controller!r} reconciles {request} because of its own writes: {done}; {FIX}"
            # making objects one by one is work, so that more runs of it are needed
            loop.notice_hot_loop((self._controller, request), text, row.runs, factor=1 if is_one_object else 4)


def _is_same(one: ChangeCause, other: ChangeCause) -> bool:
    return (one.key, one.kind, one.cluster) == (other.key, other.kind, other.cluster)


def _written_each_time(row: _Streak) -> str:
    """Return the fields that every compared write has changed, or else those that any has."""
    always = [field for field, times in row.fields.items() if times == row.compared]
    fields = sorted(always or row.fields)
    if not fields:
        return "no field that stays changed (another controller of this process may change it back)"
    more = f" and {len(fields) - SHOWN} more" if len(fields) > SHOWN else ""
    return ", ".join(fields[:SHOWN]) + more


def _differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields in which two objects differ, but for those that differ after every write."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if path == "metadata" and name in _CHANGE_EACH_TIME:
                continue
            yield from _differences(before.get(name), after.get(name), _joined(path, name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{path}[{number}]")
    elif before != after:
        yield path


def _joined(path: str, name: str) -> str:
    if not name.isidentifier():
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name
