"""File descriptors: how many are kept free, and a few that are held in reserve for probes."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

__all__ = ["SpareDescriptors", "is_exhaustion", "is_scarce"]

RESERVED = 64  # descriptors that servers leave to probes, to connections to the API server, and to the program
SPARES = 4  # held by the health server: kubelet asks for liveness, readiness and startup, and one of them may hang

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


def is_exhaustion(error: OSError) -> bool:
    """Whether a call failed because the process or the machine ran out of a resource."""
    return error.errno in _EXHAUSTED


def is_scarce(descriptor: int) -> bool:
    """Whether a descriptor that was just opened is one of the last that the process may open.

    The kernel gives the lowest number that is free, so that a high one says that all below are taken.
    """
    limit = _limit()
    return descriptor >= limit - min(RESERVED, limit // 4)


def _limit() -> int:
    import resource  # here: not every platform has it

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit if limit != resource.RLIM_INFINITY else 1 << 30


class SpareDescriptors:
    """Open descriptors that stand for nothing, to be given up when there are no others."""

    def __init__(self, count: int = SPARES) -> None:
        self._count = count
        self._held: list[int] = []

    def fill(self) -> None:
        """Open as many as are missing, as far as possible."""
        with suppress(OSError):
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def give_up_one(self) -> bool:
        """Close one; False if none is held."""
        if not self._held:
            return False
        os.close(self._held.pop())
        return True

    def close(self) -> None:
        """Close all."""
        self._count = 0
        while self.give_up_one():
            pass
