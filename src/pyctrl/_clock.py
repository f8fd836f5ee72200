"""Wall time from one place, so that it can be replaced; monotonic time is always the event loop's.

Everything in pyctrl that writes a timestamp asks `now`. Virtual time replaces the source with `use`, and then
hours of leases pass in milliseconds. Durations and deadlines never come from here: they are ``loop.time()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

__all__ = ["is_replaced", "now", "use"]


def _system() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _system


def now() -> datetime:
    """Return the wall time, aware and in UTC; in virtual time that of the loop.

    What an operator asks that works by the clock: when the next backup is due, how old a certificate is. With
    ``datetime.now`` in its place, such an operator cannot be tested in virtual time.
    """
    return _source()


@contextmanager
def use(source: Callable[[], datetime]) -> Iterator[None]:
    """Take wall time from ``source`` until the block ends. For the whole process: one loop at a time uses it."""
    global _source
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def is_replaced() -> bool:
    """Tell whether wall time is another one than the system's, as in virtual time."""
    return _source is not _system
