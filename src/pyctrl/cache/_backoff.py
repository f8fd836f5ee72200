"""How long to wait before the next try."""

from __future__ import annotations

from random import Random

__all__ = ["Backoff"]

FIRST = 0.8  # seconds, factor 2, at most 30, forgotten after 2 healthy minutes: client-go's reflector
LONGEST = 30.0
HEALTHY = 120.0


class Backoff:
    """Exponential waits with full jitter: each is drawn between nothing and a ceiling that doubles.

    Args:
        random: draws the waits.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ceiling = FIRST
        self._last: float | None = None

    def next(self, now: float) -> float:
        """Return the seconds to wait after a failure at this time of the loop."""
        if self._last is not None and now - self._last > HEALTHY:
            self._ceiling = FIRST
        wait = self._random.uniform(0.0, self._ceiling)
        self._ceiling = min(self._ceiling * 2, LONGEST)
        self._last = now + wait
        return wait
