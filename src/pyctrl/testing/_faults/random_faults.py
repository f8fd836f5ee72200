"""Random network faults, drawn from a seeded generator so that each run can be repeated."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

from pyctrl.client import HttpRequest
from pyctrl.testing._faults.transport import (
    Answered,
    AnswerLost,
    Broken,
    ConnectionRefused,
    Delayed,
    Ended,
    Fault,
    Inserted,
    Repeated,
    Silent,
)

__all__ = ["RandomFaults"]

Draw = Callable[[Random], Fault]

LONGEST_DELAY = 5.0  # seconds; `Silent` covers delays beyond a timeout
LINES = 12  # lines of a stream before its fault: within its list, at the end of the list, or some events later

#: Lines that are no watch event: truncated, of another protocol, of another kind, without an object, without a name.
GARBAGE = (
    b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"na',
    b"\x00\xff\xfe",
    b"<html><body>502 Bad Gateway</body></html>",
    b"[]",
    b'{"type":"ADDED"}',
    b'{"type":"MODIFIED","object":{}}',
    b'{"type":"UNHEARD","object":{"metadata":{"name":"x","resourceVersion":"1"}}}',
)

_ANYWHERE: tuple[Draw, ...] = (
    lambda _: ConnectionRefused(),
    lambda _: AnswerLost(),
    lambda random: Delayed(timedelta(seconds=random.uniform(0.0, LONGEST_DELAY))),
    lambda random: Answered.too_many_requests(retry_after=random.randint(1, 3)),
    lambda _: Answered(status=500, reason="InternalError"),
    lambda random: Answered.unavailable(retry_after=random.choice((None, 1))),
    lambda _: Answered(status=504, reason="Timeout"),
)

_OF_REQUESTS: tuple[Draw, ...] = (*_ANYWHERE, lambda _: Broken(), lambda _: Silent())

_OF_WRITES: tuple[Draw, ...] = (*_OF_REQUESTS, lambda _: AnswerLost(), lambda _: Answered.conflict())

_OF_STREAMS: tuple[Draw, ...] = (
    *_ANYWHERE,
    lambda random: Broken(lines=random.randrange(LINES)),
    lambda random: Broken(lines=random.randrange(LINES)),
    lambda random: Ended(lines=random.randrange(LINES)),
    lambda random: Silent(lines=random.randrange(LINES)),
    lambda _: Repeated(),
    lambda random: Inserted(line=random.choice(GARBAGE), lines=random.randrange(LINES)),
    lambda random: Inserted.error_event(410, "Expired", lines=random.randrange(LINES)),
    lambda random: Inserted.error_event(500, "InternalError", lines=random.randrange(LINES)),
    lambda _: Answered.expired(),
    lambda _: Answered(status=403, reason="Forbidden"),
)


class RandomFaults:
    """Random choice of the requests of a `FaultyTransport` that fail, and of their faults.

        random_faults = RandomFaults(Random(seed), share=0.3)
        transport = FaultyTransport(InProcessTransport(cluster.server), random_faults=random_faults)
        ...
        random_faults.share = 0.0  # no new faults; streams that are slow or silent stay so until they end

    Reads and writes find no server, are delayed, are never answered, are answered with 429, 500, 503 or 504, or lose
    their response. Writes also meet conflicts. Streams also break within a line, end early, fall silent, repeat their
    lines, contain garbage, and report 410 and 403.

    Args:
        random: the source of randomness. The same seed and the same requests give the same faults.
        share: the share of all requests that fail; 0.0 is none. You may change it at any time.
    """

    def __init__(self, random: Random, *, share: float = 0.2) -> None:
        self._random = random
        self.share = share

    def draw(self, request: HttpRequest, *, streamed: bool) -> Fault | None:
        """Return the fault of a request, or None."""
        if self._random.random() >= self.share:
            return None
        faults = _OF_STREAMS if streamed else _OF_REQUESTS if request.method == "GET" else _OF_WRITES
        return self._random.choice(faults)(self._random)
