"""How long a failed request waits before it is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Protocol

from pyctrl.controller._request import Request
from pyctrl.errors import ConnectionFailed, Forbidden, NotSynced, ServiceUnavailable, Unauthorized, UnknownKind

__all__ = ["OUTAGE_WAIT", "ExponentialBackoff", "MaxOfRateLimiter", "RateLimiter", "TokenBucket", "is_outage"]


class RateLimiter(Protocol):
    """Decides when a failed request is tried again.

    The queue calls `backoff` once for each failure that counts, and `forget` after each success. It calls `failures`
    only for a request that it has backed off itself since the last `forget`, so that a limiter that several queues
    share reports to each queue only requests that have failed there.
    """

    def backoff(self, request: Request) -> timedelta:
        """Count one more failure of a request and return how long it waits."""
        ...

    def forget(self, request: Request) -> None:
        """Forget the failures of a request: it has succeeded, or is given up."""

    def failures(self, request: Request) -> int:
        """Return how many failures in a row have been counted."""
        ...


class ExponentialBackoff:
    """Wait twice as long after each failure of the same request, from 5 ms to 1000 s as client-go does.

    Each wait is spread by ±20 %: a thousand requests that failed together do not come back together.
    """

    def __init__(
        self,
        *,
        first: timedelta = timedelta(milliseconds=5),
        longest: timedelta = timedelta(seconds=1000),
        factor: float = 2.0,
        jitter: float = 0.2,
        random: Random | None = None,
    ) -> None:
        self._first = first
        self._longest = longest
        self._factor = factor
        self._jitter = jitter
        self._random = random or Random()
        self._failures: dict[Request, int] = {}

    def backoff(self, request: Request) -> timedelta:
        """Count one more failure of the request and return its wait, the jitter included."""
        failures = self._failures.get(request, 0)
        self._failures[request] = failures + 1
        spread = self._random.uniform(1 - self._jitter, 1 + self._jitter)
        return min(self._longest, self._exponential(failures) * spread)

    def forget(self, request: Request) -> None:
        """Begin again with the first wait."""
        self._failures.pop(request, None)

    def failures(self, request: Request) -> int:
        """Return how many failures were counted since the last `forget`."""
        return self._failures.get(request, 0)

    def _exponential(self, failures: int) -> timedelta:
        try:
            return min(self._longest, self._first * self._factor**failures)
        except OverflowError:  # 2.0**1024, or more days than a timedelta holds
            return self._longest


class TokenBucket:
    """Let at most ``per_second`` retries through on the long run, ``burst`` at once, whichever requests they are.

    Combine it with a backoff: ``MaxOfRateLimiter(ExponentialBackoff(), TokenBucket(per_second=10, burst=100))`` is what
    client-go's controllers used before they had priorities.
    """

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._interval = 1 / per_second
        self._burst = burst
        #: The moment at which the bucket would be full; tokens that are taken push it into the future.
        self._full_at = float("-inf")

    def backoff(self, request: Request) -> timedelta:
        """Take a token and return how long it takes until there is one."""
        now = asyncio.get_running_loop().time()
        self._full_at = max(self._full_at, now) + self._interval
        return timedelta(seconds=max(0.0, self._full_at - self._burst * self._interval - now))

    def forget(self, request: Request) -> None:
        """Do nothing: tokens are not given back."""

    def failures(self, request: Request) -> int:
        """Return 0: a bucket knows no requests."""
        return 0


class MaxOfRateLimiter:
    """Ask several limiters and take the longest wait."""

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters: Sequence[RateLimiter] = limiters

    def backoff(self, request: Request) -> timedelta:
        """Let each limiter count the failure and return the longest of their waits."""
        return max(limiter.backoff(request) for limiter in self._limiters)

    def forget(self, request: Request) -> None:
        """Let each limiter forget the request."""
        for limiter in self._limiters:
            limiter.forget(request)

    def failures(self, request: Request) -> int:
        """Return the highest of the limiters' counts."""
        return max(limiter.failures(request) for limiter in self._limiters)


#: What a retry waits at most while nothing works: the end of an outage comes with no change that would run it earlier.
#: With the backoff alone an operator whose role was missing for an hour needed 13 more minutes after it was back.
OUTAGE_WAIT = timedelta(minutes=1)  # a token file is read again as often


def is_outage(error: BaseException) -> bool:
    """Tell whether an attempt failed because of a right, a login, a definition or a server that is not there.

    A cache that is not filled yet counts: it may be that of another cluster, which a controller does not wait for.
    What an admission plugin forbids is no such thing: it is about the object.
    """
    if isinstance(error, Forbidden):
        return bool(error.verb)
    return isinstance(error, (ConnectionFailed, NotSynced, ServiceUnavailable, Unauthorized, UnknownKind))
