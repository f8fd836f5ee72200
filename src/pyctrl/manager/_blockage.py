"""Blockages of the event loop: detection and log limits, without threads and clocks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct

from pyctrl._stack_frames import CodeLine

__all__ = ["Blockage", "BlockageLog", "LoopCheck", "LoopTurns"]

ALWAYS_LOGGED = 3  # the first blockages by one line of code are logged
REMINDER = 300.0  # seconds between logged blockages by that line afterwards
MAX_PLACES = 1000  # lines of code that are remembered


class Blockage(Struct, frozen=True, kw_only=True):
    """An iteration of the event loop that took too long.

    Attributes:
        took: how long, at least: measured from the watchdog's last check before it.
        line: the innermost line of the program, or of the stack; None if no stack was seen.
        work: the log context of the task, such as ``controller``, ``namespace``, ``name``, ``reconcileID``.
    """

    took: timedelta
    line: CodeLine | None
    work: Mapping[str, object]


class LoopCheck(Struct, frozen=True, kw_only=True):
    """The result of one check of the loop.

    Attributes:
        is_due: whether to schedule a callback on the loop, which calls `LoopTurns.turned`.
        blocked: the seconds for which the loop has been blocked, if that is to be logged now.
        is_late: whether the checking thread was blocked as well.
    """

    is_due: bool = False
    blocked: float | None = None
    is_late: bool = False


class LoopTurns:
    """Detects a blocked loop from periodic checks and from callbacks that the loop ran."""

    def __init__(self, threshold: float = 1.0) -> None:
        #: How many seconds an iteration may take.
        self.threshold: float = threshold
        self._since: float | None = None  # when the pending callback was scheduled
        self._next_report = 0.0

    def check(self, now: float, *, late: float, is_idle: bool) -> LoopCheck:
        """Process a check of the loop.

        Args:
            now: the time.
            late: how many seconds late the check is.
            is_idle: whether the loop waits for events.
        """
        is_late = late >= self.threshold
        is_due = self._since is None and not is_idle
        if is_due:
            self._since = now - late if is_late else now
            self._next_report = self.threshold
        if self._since is None:
            return LoopCheck()
        blocked = now - self._since
        if blocked < self._next_report:
            return LoopCheck(is_due=is_due)
        while self._next_report <= blocked:
            self._next_report *= 2
        return LoopCheck(is_due=is_due, blocked=blocked, is_late=is_late)

    def turned(self, now: float) -> float | None:
        """Record that the callback ran; return the seconds for which the loop was blocked, if that was logged."""
        since, self._since = self._since, None
        return now - since if since is not None and self._next_report > self.threshold else None


class BlockageLog:
    """Decides which blockages are logged, so that a repeated one does not fill the log."""

    def __init__(self) -> None:
        self._seen: dict[CodeLine | None, tuple[int, float]] = {}  # how often, and when it was last logged
        #: Whether the current blockage is logged.
        self.is_shown: bool = True
        #: Additional fields of its log lines.
        self.fields: Mapping[str, object] = {}

    def begin(self, place: CodeLine | None, now: float) -> None:
        """Decide whether to log a new blockage."""
        count, logged_at = self._seen.pop(place, (0, now))
        count += 1
        self.is_shown = count <= ALWAYS_LOGGED or now - logged_at >= REMINDER
        self.fields = {"times": count} if count > ALWAYS_LOGGED else {}
        self._seen[place] = (count, now if self.is_shown else logged_at)
        if len(self._seen) > MAX_PLACES:
            del self._seen[next(iter(self._seen))]
