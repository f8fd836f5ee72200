"""Blockages of the event loop: when a turn counts as blocked, and how often that is logged. No threads, no clocks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct

from pyctrl._stack_frames import CodeLine

__all__ = ["Blockage", "BlockageLog", "LoopCheck", "LoopTurns"]

ALWAYS_LOGGED = 3  # blockages of one place that are logged, before
REMINDER = 300.0  # seconds, which is how often it is logged from then on
MAX_PLACES = 1000  # that are remembered


class Blockage(Struct, frozen=True, kw_only=True):
    """A turn of the event loop that took too long.

    Attributes:
        took: how long, at least: it is measured from the watchdog's last look before.
        line: of the program, or the innermost of all; None when nothing of the stack was seen.
        work: the log context of the task, such as ``controller``, ``namespace``, ``name``, ``reconcileID``.
    """

    took: timedelta
    line: CodeLine | None
    work: Mapping[str, object]


class LoopCheck(Struct, frozen=True, kw_only=True):
    """What follows from one look at the loop.

    Attributes:
        is_due: a callback is to be put on the loop; `LoopTurns.turned` notes that it ran.
        blocked: for how many seconds the loop has been blocked, if that is to be reported now.
        is_late: whether the thread that looks stood still as well.
    """

    is_due: bool = False
    blocked: float | None = None
    is_late: bool = False


class LoopTurns:
    """Whether a loop turns, from looks at it and from callbacks that it ran."""

    def __init__(self, threshold: float = 1.0) -> None:
        #: How many seconds a turn may take.
        self.threshold: float = threshold
        self._since: float | None = None  # when the callback was put on the loop that has not run yet
        self._next_report = 0.0

    def look(self, now: float, *, late: float, is_idle: bool) -> LoopCheck:
        """Take in a look at the loop.

        Args:
            now: the time.
            late: how many seconds later than intended it is.
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
        """Take in that the callback ran; return for how many seconds the loop was blocked, if that was reported."""
        since, self._since = self._since, None
        return now - since if since is not None and self._next_report > self.threshold else None


class BlockageLog:
    """Decides which blockages are logged, so that one that comes back does not fill the log."""

    def __init__(self) -> None:
        self._seen: dict[CodeLine | None, tuple[int, float]] = {}  # how often, and when it was last logged
        #: Whether the blockage of now is logged.
        self.is_shown: bool = True
        #: What its lines have beside the rest.
        self.fields: Mapping[str, object] = {}

    def begin(self, place: CodeLine | None, now: float) -> None:
        """Decide on a blockage that begins to be reported."""
        count, logged_at = self._seen.pop(place, (0, now))
        count += 1
        self.is_shown = count <= ALWAYS_LOGGED or now - logged_at >= REMINDER
        self.fields = {"times": count} if count > ALWAYS_LOGGED else {}
        self._seen[place] = (count, now if self.is_shown else logged_at)
        if len(self._seen) > MAX_PLACES:
            del self._seen[next(iter(self._seen))]
