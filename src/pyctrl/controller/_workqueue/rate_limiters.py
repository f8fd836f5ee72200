"""Rate limiters: the delay of retries."""

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
    """Decides the delay after which a failed request is retried.

    The queue calls `backoff` once for each failure that counts, and `forget` after each success. It calls `failures`
    only for a request that it has backed off itself since the last `forget`, so that a limiter that several queues
    share reports to each queue only requests that have failed there.
    """

    def backoff(self, request: Request) -> timedelta:
        """Count one more failure of a request and return its delay."""
        ...

    def forget(self, request: Request) -> None:
        """Forget the failures of a request that has succeeded or is not retried any more."""

    def failures(self, request: Request) -> int:
        """Return the number of failures counted since the last `forget`."""
        ...


class ExponentialBackoff:
    """Doubles the delay with each failure of a request, from 5 ms to 1000 s, as client-go does.

    Each delay is spread by ±20 %, so that a thousand requests that failed together are not retried together.
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
        """Count one more failure of the request and return its delay, the jitter included."""
        failures = self._failures.get(request, 0)
        self._failures[request] = failures + 1
        spread = self._random.uniform(1 - self._jitter, 1 + self._jitter)
        return min(self._longest, self._exponential(failures) * spread)

    def forget(self, request: Request) -> None:
        """Reset the delay of a request to the first one."""
        self._failures.pop(request, None)

    def failures(self, request: Request) -> int:
        """Return the number of failures counted since the last `forget`."""
        return self._failures.get(request, 0)

    def _exponential(self, failures: int) -> timedelta:
        try:
            return min(self._longest, self._first * self._factor**failures)
        except OverflowError:  # 2.0**1024, or more days than a timedelta holds
            return self._longest


class TokenBucket:
    """Allows ``per_second`` retries on average and ``burst`` at once, over all requests.

    Combine it with a backoff: ``MaxOfRateLimiter(ExponentialBackoff(), TokenBucket(per_second=10, burst=100))`` is
    client-go's default for a workqueue without priorities.
    """

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._interval = 1 / per_second
        self._burst = burst
        #: The time at which the bucket would be full; each token that is taken moves it into the future.
        self._full_at = float("-inf")

    def backoff(self, request: Request) -> timedelta:
        """Take a token and return the time until it is available."""
        now = asyncio.get_running_loop().time()
        self._full_at = max(self._full_at, now) + self._interval
        return timedelta(seconds=max(0.0, self._full_at - self._burst * self._interval - now))

    def forget(self, request: Request) -> None:
        """Do nothing: tokens are not returned."""

    def failures(self, request: Request) -> int:
        """Return 0: the bucket does not count by request."""
        return 0


class MaxOfRateLimiter:
    """Combines several limiters: the longest of their delays applies."""

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters: Sequence[RateLimiter] = limiters

    def backoff(self, request: Request) -> timedelta:
        """Let each limiter count the failure and return the longest of their delays."""
        return max(limiter.backoff(request) for limiter in self._limiters)

    def forget(self, request: Request) -> None:
        """Let each limiter forget the request."""
        for limiter in self._limiters:
            limiter.forget(request)

    def failures(self, request: Request) -> int:
        """Return the highest of the limiters' counts."""
        return max(limiter.failures(request) for limiter in self._limiters)


#: The longest delay of a retry during an outage, whose end causes no change that would run the request earlier. With
#: the backoff alone, an operator whose role was missing for an hour took 13 more minutes to recover.
OUTAGE_WAIT = timedelta(minutes=1)  # token files are read again as often


def is_outage(error: BaseException) -> bool:
    """Return whether a reconcile failed for a missing permission, login or definition, or an unavailable server.

    A cache that is not synced counts, too: it may be that of another cluster, for which a controller does not wait. A
    refusal by an admission plugin does not count: it is about the object.
    """
    if isinstance(error, Forbidden):
        return bool(error.verb)
    return isinstance(error, (ConnectionFailed, NotSynced, ServiceUnavailable, Unauthorized, UnknownKind))
