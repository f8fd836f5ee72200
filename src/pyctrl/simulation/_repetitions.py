"""Repetitions of writes and calls, by which it shows that an operator never comes to rest."""

from __future__ import annotations

from collections import Counter

__all__ = ["Repetitions"]

#: Times that one object is written, or one call is made, without a rest in between. Retries with backoff make tens.
ENDLESS = 300


class Repetitions:
    """The writes and calls of an operator since the world was at rest, counted.

    Attributes:
        spinning: What was repeated without an end, as the message of an error; "" if nothing was.
    """

    def __init__(self) -> None:
        self.spinning: str = ""
        self._counts: Counter[str] = Counter()

    def clear(self) -> None:
        """Begin to count: the world is at rest."""
        self._counts.clear()

    def note(self, what: str) -> None:
        """Count a write or a call."""
        self._counts[what] += bool(what)
        if self._counts[what] > ENDLESS and not self.spinning:
            self.spinning = f"Spinning: the operator does not come to rest: {what}, {ENDLESS} times in a row"

    @property
    def are_endless(self) -> bool:
        """Whether something is repeated without an end."""
        return bool(self._counts) and max(self._counts.values()) > ENDLESS
