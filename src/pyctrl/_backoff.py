"""How long to wait before the next try."""

from __future__ import annotations

from random import Random

__all__ = ["Backoff", "until_next_poll"]

FIRST = 0.8  # seconds, factor 2, at most 30, forgotten after 2 healthy minutes: client-go's reflector
LONGEST = 30.0
HEALTHY = 120.0

SOON = 1.0  # seconds between looks for a definition; discovery has tags, so that a look is two answers of 304
LATE = 10.0  # seconds, of what has been missing for 100 minutes: it may never come


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


def until_next_poll(missing: float) -> float:
    """Return the seconds until one looks again for a definition that has been missing for so many: 1 to 10."""
    return min(max(SOON, missing / 600), LATE)
