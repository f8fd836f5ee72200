"""Backoff of watches, and poll intervals for missing definitions."""

from __future__ import annotations

from random import Random

__all__ = ["Backoff", "until_next_poll"]

FIRST = 0.8  # seconds, factor 2, at most 30, reset after 2 minutes without a failure: client-go's reflector
LONGEST = 30.0
HEALTHY = 120.0

SOON = 1.0  # seconds between polls for a definition; discovery has ETags, so a poll is two 304 responses
LATE = 10.0  # seconds between polls for a definition that has been missing for 100 minutes


class Backoff:
    """Exponential backoff with full jitter: each wait is drawn between 0 and a ceiling that doubles.

    Args:
        random: the source of jitter.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ceiling = FIRST
        self._last: float | None = None

    def next(self, now: float) -> float:
        """Return the seconds to wait after a failure at ``now``, on the loop's clock."""
        if self._last is not None and now - self._last > HEALTHY:
            self._ceiling = FIRST
        wait = self._random.uniform(0.0, self._ceiling)
        self._ceiling = min(self._ceiling * 2, LONGEST)
        self._last = now + wait
        return wait


def until_next_poll(missing: float) -> float:
    """Return the seconds, 1 to 10, until the next poll for a definition missing for ``missing`` seconds."""
    return min(max(SOON, missing / 600), LATE)
