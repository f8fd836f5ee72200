"""The wall clock, replaceable for virtual time. Monotonic time is always that of the event loop.

All timestamps in pyctrl come from `now`. Virtual time replaces its source with `use`, so that hours of leases pass in
milliseconds. Durations and deadlines use ``loop.time()`` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial

__all__ = ["is_replaced", "now", "use"]


_system: Callable[[], datetime] = partial(datetime.now, UTC)
_source: Callable[[], datetime] = _system


def now() -> datetime:
    """Return the wall time as an aware datetime in UTC; in virtual time, that of the loop.

    Use it instead of ``datetime.now``, for example for the due time of a backup or the age of a certificate: then the
    operator can be tested in virtual time.
    """
    return _source()


@contextmanager
def use(source: Callable[[], datetime]) -> Iterator[None]:
    """Take wall time from ``source`` during the block, process-wide: only one loop at a time may use it."""
    global _source
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def is_replaced() -> bool:
    """Return whether the wall time is not the system's, as in virtual time."""
    return _source is not _system
