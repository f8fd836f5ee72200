"""Rate limiters for failed requests."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff, MaxOfRateLimiter, TokenBucket, is_outage
from pyctrl.errors import Forbidden

A, B = Request("default", "a"), Request("default", "b")


def test_backoff_doubles_from_5_ms_to_1000_s() -> None:
    """The default backoff is client-go's: 5 ms · 2ⁿ, and at most 1000 s."""
    limiter = ExponentialBackoff(jitter=0)
    waits = [limiter.backoff(A).total_seconds() for _ in range(20)]

    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[17] == 0.005 * 2**17
    assert waits[18:] == [1000, 1000]


def test_backoff_never_overflows() -> None:
    """Any number of failures gives a wait of 1000 s without an overflow."""
    limiter = ExponentialBackoff(random=Random(1))
    waits = [limiter.backoff(A) for _ in range(3000)]

    assert max(waits) == timedelta(seconds=1000)


def test_backoff_is_spread() -> None:
    """Waits have a jitter of ±20 %, which spreads requests that failed together."""
    limiter = ExponentialBackoff(first=timedelta(seconds=1), random=Random(1))
    waits = [limiter.backoff(Request("default", str(number))).total_seconds() for number in range(1000)]

    assert min(waits) < 0.81
    assert max(waits) > 1.19
    assert all(0.8 <= wait <= 1.2 for wait in waits)


def test_failures_are_counted_for_each_request_until_forgotten() -> None:
    """Each request has its own failure count, which a success resets."""
    limiter = ExponentialBackoff(jitter=0)
    limiter.backoff(A)
    limiter.backoff(A)
    assert (limiter.failures(A), limiter.failures(B)) == (2, 0)
    assert limiter.backoff(B) == timedelta(milliseconds=5)

    limiter.forget(A)
    limiter.forget(A)
    assert limiter.failures(A) == 0
    assert limiter.backoff(A) == timedelta(milliseconds=5)


async def test_a_token_bucket_lets_a_burst_through_and_then_a_rate() -> None:
    """A token bucket allows a burst of three, then two a second over all requests, and refills with time."""
    bucket = TokenBucket(per_second=2, burst=3)
    waits = [bucket.backoff(Request("default", str(number))).total_seconds() for number in range(6)]
    assert waits == [0, 0, 0, 0.5, 1, 1.5]

    await asyncio.sleep(60)
    assert [bucket.backoff(A).total_seconds() for _ in range(4)] == [0, 0, 0, 0.5]


async def test_the_slowest_of_several_limiters_decides() -> None:
    """Of several limiters the longest wait counts."""
    limiter = MaxOfRateLimiter(ExponentialBackoff(jitter=0), TokenBucket(per_second=1, burst=1))
    assert limiter.backoff(A) == timedelta(milliseconds=5)
    assert limiter.backoff(A) == timedelta(seconds=1)
    assert limiter.failures(A) == 2

    limiter.forget(A)
    assert limiter.failures(A) == 0


def test_which_refusals_are_an_outage() -> None:
    """A missing permission is an outage, whose end causes no change; a refusal by an admission plugin is not."""
    permission = 'pods is forbidden: User "op" cannot list resource "pods" in API group "" in the namespace "default"'
    quota = 'pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1'

    assert is_outage(Forbidden(permission, code=403))
    assert not is_outage(Forbidden(quota, code=403))
