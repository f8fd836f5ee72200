"""Which events are told, which are combined, and which are too many: client-go's event correlator.

The numbers are those of tools/record/events_cache.go.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

from msgspec import Struct, field

__all__ = ["EventCorrelator", "EventGroup"]

SIMILAR = 10  # from this many different messages of one group on they are combined (defaultAggregateMaxEvents)
SIMILAR_SECONDS = 600.0  # what is further apart is not similar (defaultAggregateIntervalInSeconds)
BURST = 25  # events about one object at once (defaultSpamBurst)
REFILL_SECONDS = 300.0  # until it may have one more (1 / defaultSpamQPS)
REMEMBERED = 4096  # of each kind of memory (maxLruCacheEntries)

T = TypeVar("T")

#: What events have in common: who tells them, of what, and why.
EventGroup: TypeAlias = tuple[str, ...]


class _AggregateRecord(Struct):
    """The messages of one group of late."""

    messages: set[str] = field(default_factory=set)
    last: float = 0.0


class _SpamRecord(Struct):
    """How many events an object may still cause."""

    tokens: float
    filled: float


class EventCorrelator:
    """Keep the events of one program from becoming too many, by what it told of late.

    From the tenth different message of one group within ten minutes on they share one event. An object that has had
    25 events is not listened to any more, but for one every five minutes. No input or output; ``now`` is seconds of a
    clock that never goes back.
    """

    def __init__(self) -> None:
        self._similar: OrderedDict[EventGroup, _AggregateRecord] = OrderedDict()
        self._buckets: OrderedDict[EventGroup, _SpamRecord] = OrderedDict()
        self._last_name = 0

    def combine(self, group: EventGroup, message: str, now: float) -> tuple[EventGroup, str]:
        """Return what identifies an event, and its message: its own, or that of all that are similar to it."""
        similar = self._similar.get(group)
        if similar is None or now - similar.last > SIMILAR_SECONDS:
            similar = _remember(self._similar, group, _AggregateRecord())
        similar.last = now
        if message in similar.messages or len(similar.messages) + 1 < SIMILAR:
            similar.messages.add(message)
            return (*group, message), message
        return group, f"(combined from similar events): {message}"

    def may_speak(self, subject: EventGroup, now: float) -> bool:
        """Say whether there may be one more event about an object, and count it if so."""
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
        """Return an object's name with the time in nanoseconds; no two are alike, though clocks may stand still."""
        elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
        nanoseconds = (elapsed.days * 86400 + elapsed.seconds) * 10**9 + elapsed.microseconds * 1000
        self._last_name = max(nanoseconds, self._last_name + 1)
        return f"{about}.{self._last_name:x}"


def _remember(memory: OrderedDict[EventGroup, T], key: EventGroup, value: T) -> T:
    """Keep a value, and forget the oldest beyond the limit."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
    return value
