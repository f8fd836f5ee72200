"""Event correlator: combines similar events and limits their rate, as client-go's tools/record/events_cache.go."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

from msgspec import Struct, field

__all__ = ["EventCorrelator", "EventGroup"]

SIMILAR = 10  # different messages of a group from which on they are combined (defaultAggregateMaxEvents)
SIMILAR_SECONDS = 600.0  # between two events of a group at most (defaultAggregateIntervalInSeconds)
BURST = 25  # events of an object at once (defaultSpamBurst)
REFILL_SECONDS = 300.0  # until the next event of an object after the burst (1 / defaultSpamQPS)
REMEMBERED = 4096  # entries of each cache (maxLruCacheEntries)

T = TypeVar("T")

#: The fields that similar events share: controller, object, type, reason and action.
EventGroup: TypeAlias = tuple[str, ...]


class _AggregateRecord(Struct):
    """The recent messages of a group."""

    messages: set[str] = field(default_factory=set)
    last: float = 0.0


class _SpamRecord(Struct):
    """Token bucket of an object."""

    tokens: float
    filled: float


class EventCorrelator:
    """Aggregation and rate limit of a program's events.

    From the tenth different message of a group within ten minutes on, the messages share one event. After 25 events an
    object may have one more every five minutes. It does no I/O; ``now`` is seconds of a monotonic clock.
    """

    def __init__(self) -> None:
        self._similar: OrderedDict[EventGroup, _AggregateRecord] = OrderedDict()
        self._buckets: OrderedDict[EventGroup, _SpamRecord] = OrderedDict()
        self._last_name = 0

    def combine(self, group: EventGroup, message: str, now: float) -> tuple[EventGroup, str]:
        """Return the key and the message of an event: its own, or those of its combined group."""
        similar = self._similar.get(group)
        if similar is None or now - similar.last > SIMILAR_SECONDS:
            similar = _remember(self._similar, group, _AggregateRecord())
        similar.last = now
        if message in similar.messages or len(similar.messages) + 1 < SIMILAR:
            similar.messages.add(message)
            return (*group, message), message
        return group, f"(combined from similar events): {message}"

    def is_allowed(self, subject: EventGroup, now: float) -> bool:
        """Return True if the rate limit of an object allows another event, and count it."""
        bucket = self._buckets.get(subject)
        if bucket is None:
            bucket = _remember(self._buckets, subject, _SpamRecord(BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled) / REFILL_SECONDS)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def new_name(self, about: str, moment: datetime) -> str:
        """Return an object's name with the time in nanoseconds, unique even if the clock does not advance."""
        elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
        nanoseconds = (elapsed.days * 86400 + elapsed.seconds) * 10**9 + elapsed.microseconds * 1000
        self._last_name = max(nanoseconds, self._last_name + 1)
        return f"{about}.{self._last_name:x}"


def _remember(memory: OrderedDict[EventGroup, T], key: EventGroup, value: T) -> T:
    """Store a value, and remove the oldest one beyond the limit."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
    return value
