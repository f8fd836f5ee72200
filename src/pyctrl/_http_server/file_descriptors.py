"""File descriptor limits: a reserved number, and spare descriptors for health probes."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

__all__ = ["SpareDescriptors", "is_exhaustion", "is_scarce"]

RESERVED = 64  # descriptors that servers leave for probes, connections to the API server, and the program
SPARES = 4  # held by the health server: liveness, readiness and startup probes, and one that hangs

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


def is_exhaustion(error: OSError) -> bool:
    """Return whether a call failed because the process or the machine ran out of a resource."""
    return error.errno in _EXHAUSTED


def is_scarce(descriptor: int) -> bool:
    """Return whether a newly opened descriptor is one of the last that the process may open.

    The kernel assigns the lowest free number, so all numbers below it are in use.
    """
    limit = _limit()
    return descriptor >= limit - min(RESERVED, limit // 4)


def _limit() -> int:
    import resource  # here: not every platform has it

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit if limit != resource.RLIM_INFINITY else 1 << 30


class SpareDescriptors:
    """Open descriptors of /dev/null, which are closed when no others are available."""

    def __init__(self, count: int = SPARES) -> None:
        self._count = count
        self._held: list[int] = []

    def fill(self) -> None:
        """Open the missing ones, as far as possible."""
        with suppress(OSError):
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def give_up_one(self) -> bool:
        """Close one; return False if none is held."""
        if not self._held:
            return False
        os.close(self._held.pop())
        return True

    def close(self) -> None:
        """Close all."""
        self._count = 0
        while self.give_up_one():
            pass
