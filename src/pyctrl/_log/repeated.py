"""Log levels of repeated errors: the first one at its own level, repeats at debug, with periodic reminders."""

from __future__ import annotations

import logging

__all__ = ["REMINDER_SECONDS", "RepeatedErrors"]

REMINDER_SECONDS = 300.0  # so that the end of a log shows errors that persist


class RepeatedErrors:
    """Chooses the level of an error that may repeat: its own if it is new or due for a reminder, else DEBUG."""

    def __init__(self) -> None:
        self._last: object = None
        self._logged_at = 0.0

    def level(self, error: object, level: int, now: float, *, every: float = REMINDER_SECONDS) -> int:
        """Return the level to log an error at; errors that compare equal are repeats.

        Args:
            error: the error, or any value that identifies it.
            level: the level of a new error.
            now: the time of the loop.
            every: seconds after which a repeated error is logged at ``level`` again.
        """
        if error == self._last and now - self._logged_at < every:
            return logging.DEBUG
        self._last, self._logged_at = error, now
        return level

    def forget(self) -> bool:
        """Treat the next error as new; return whether there was one before."""
        had_error, self._last = self._last is not None, None
        return had_error
