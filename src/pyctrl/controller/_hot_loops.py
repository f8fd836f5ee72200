"""Detection of reconciles that trigger themselves by their own writes, and of the fields that they write."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

import msgspec

from pyctrl.controller._causes import ChangeCause, ReconcileCause
from pyctrl.controller._request import Request

__all__ = ["HotLoopListener", "HotLoops"]

log = logging.getLogger("pyctrl.controller")

#: Runs in a row that were each caused only by this process's update of one object. A reconcile that writes each of its
#: steps into the status needs fewer. A hot loop of 144 runs a second gets there in less than a second.
UPDATES = 100
#: The same for runs that create objects, or write another one each time: creating a thousand objects one by one is
#: normal.
WRITES = 1000
COMPARED = 3  # writes at the end of a streak that are compared, at a microsecond for each 100 bytes
REMEMBERED = 10_000  # streaks that are counted at the same time
REMINDER = 300.0  # seconds between two warnings of a controller about the same fields
SHOWN = 5  # fields in a message

FIX = "write only when something differs from what was read, or filter with generation_changed"
_CHANGE_EACH_TIME = {"resourceVersion", "generation", "managedFields"}


@runtime_checkable
class HotLoopListener(Protocol):
    """An event loop that is notified of hot loops; that of virtual time is."""

    def notice_hot_loop(self, key: object, text: str, runs: int, *, factor: int) -> None:
        """Count further runs in a row that trigger themselves; ``factor`` times as many as usual are an error."""


class _Streak(msgspec.Struct):
    """Runs of one request in a row, each caused only by writes of this process."""

    written: ChangeCause
    since: float
    runs: int = 0
    updates: int = 0  # the runs at the end of the streak that were caused by updates of `written`
    state: bytes | None = None
    fields: dict[str, int] = {}
    compared: int = 0


class HotLoops:
    """Logs a warning when a controller's own writes cause its next runs, with the fields that each run writes.

    Takes a dictionary lookup for each run that only own writes have caused, and for others while there is a streak.

    Args:
        controller: the name of the controller.
        state_of: returns the JSON of the object of a change as it is now, or None.
    """

    def __init__(self, controller: str, state_of: Callable[[ChangeCause], bytes | None]) -> None:
        self._controller, self._state_of = controller, state_of
        #: The streaks by request. A run with another cause ends its streak.
        self.streaks: dict[Request, _Streak] = {}
        self._warned: dict[object, float] = {}
        #: Called with the request and what each run writes, whenever a streak reaches `UPDATES` or `WRITES`.
        self.on_loop: Callable[[Request, str], None] | None = None

    def caused_itself(self, request: Request, causes: tuple[ReconcileCause, ...]) -> None:
        """Count a run that has ended and that only writes of this process had caused."""
        written = [cause for cause in causes if isinstance(cause, ChangeCause)]
        streak = self.streaks.get(request)
        if streak is None:
            streak = self._begin(request, written[-1])
        streak.runs += 1
        again = [cause for cause in written if cause.change == "updated" and _is_same(cause, streak.written)]
        if again:
            streak.written, streak.updates = again[0], streak.updates + 1
        else:
            streak.written, streak.updates, streak.state, streak.fields, streak.compared = written[-1], 0, None, {}, 0
        if streak.updates >= UPDATES - COMPARED:
            self._compare(streak)
        if streak.updates >= UPDATES or streak.runs >= WRITES:
            del self.streaks[request]
            self._report(request, streak)

    def _begin(self, request: Request, written: ChangeCause) -> _Streak:
        streak = self.streaks[request] = _Streak(written, asyncio.get_running_loop().time())
        if len(self.streaks) > REMEMBERED:
            del self.streaks[next(iter(self.streaks))]
        return streak

    def _compare(self, streak: _Streak) -> None:
        """Count the fields that this run has changed."""
        before, streak.state = streak.state, self._state_of(streak.written)
        if before is not None and streak.state is not None:
            streak.compared += 1
            for field in _differences(msgspec.json.decode(before), msgspec.json.decode(streak.state)):
                streak.fields[field] = streak.fields.get(field, 0) + 1

    def _report(self, request: Request, streak: _Streak) -> None:
        now = asyncio.get_running_loop().time()
        written = f"{streak.written.kind.kind} {streak.written.key}"
        fields = _written_each_time(streak)
        is_one_object = streak.updates >= UPDATES
        key = (streak.written.kind, fields if is_one_object else None)
        if now - self._warned.get(key, -REMINDER) >= REMINDER:
            self._warned[key] = now
            facts: dict[str, object] = {
                "written": written,
                "runs": streak.runs,
                "seconds": round(now - streak.since, 3),
            }
            if is_one_object:
                facts["fields"] = fields
            log.warning("Hot loop: each reconcile is caused by a write of the one before", extra=facts | {"fix": FIX})
        loop = asyncio.get_running_loop()
        done = f"each run writes {fields} of {written}" if is_one_object else f"each run writes, the last one {written}"
        if self.on_loop is not None:
            self.on_loop(request, done)
        if isinstance(loop, HotLoopListener):
            text = f"controller {self._controller!r} reconciles {request} because of its own writes: {done}; {FIX}"
            # Creating objects one by one is normal, so that more runs of it are allowed.
            loop.notice_hot_loop((self._controller, request), text, streak.runs, factor=1 if is_one_object else 4)


def _is_same(one: ChangeCause, other: ChangeCause) -> bool:
    return (one.key, one.kind, one.cluster) == (other.key, other.kind, other.cluster)


def _written_each_time(streak: _Streak) -> str:
    """Return the fields that every compared write has changed, else those that any has."""
    always = [field for field, times in streak.fields.items() if times == streak.compared]
    fields = sorted(always or streak.fields)
    if not fields:
        return "no field that stays changed (another controller of this process may change it back)"
    more = f" and {len(fields) - SHOWN} more" if len(fields) > SHOWN else ""
    return ", ".join(fields[:SHOWN]) + more


def _differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields in which two objects differ, except for those that differ after every write."""
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
