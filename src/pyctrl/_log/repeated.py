"""Say once what goes wrong again and again, and remind of it now and then."""

from __future__ import annotations

import logging

__all__ = ["REMINDER_SECONDS", "RepeatedErrors"]

REMINDER_SECONDS = 300.0  # seconds; whoever looks at the end of a log sees why nothing happens


class RepeatedErrors:
    """How loud a complaint is: as loud as it should be when it is news or has not been heard for long, else debug."""

    def __init__(self) -> None:
        self._said: object = None
        self._said_at = 0.0

    def level(self, complaint: object, weight: int, now: float, *, every: float = REMINDER_SECONDS) -> int:
        """Return the level for a complaint of some weight, at a time of the loop; the same one is equal to itself."""
        if complaint == self._said and now - self._said_at < every:
            return logging.DEBUG
        self._said, self._said_at = complaint, now
        return weight

    def forget(self) -> bool:
        """Let the next complaint be news, whatever it is, and say whether there was one."""
        had, self._said = self._said is not None, None
        return had
