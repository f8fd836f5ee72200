"""The base class of stores for fingerprints, with their options, and the store in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

from pyctrl.client import Client
from pyctrl.errors import ManagerError
from pyctrl.rbac import Permission

__all__ = ["Fingerprints", "MemoryFingerprints"]


class Fingerprints(ABC):
    """Keeps the fingerprints of converged requests from one run of a program to the next.

    A store of your own implements `load` and `save`. It may lose, mix up or return old data: the data has a checksum,
    and a fingerprint holds as long as the versions that it names are those in the cluster.

    Args:
        verify_within: a request that a start leaves out runs nevertheless, at a random time, before this time is over
            since its last run. It limits how long a drift stays hidden that only a run can find.
        interval: the shortest time between two writes; it is longer if collecting the data takes long.
        code: anything that a reconcile depends on besides the program's files, arguments and environment, such as the
            digest of a mounted file. All requests run after it has changed.

    Raises:
        ManagerError: a time is not positive.
    """

    def __init__(
        self,
        *,
        verify_within: timedelta = timedelta(hours=10),
        interval: timedelta = timedelta(minutes=1),
        code: str = "",
    ) -> None:
        if verify_within <= timedelta(0) or interval <= timedelta(0):
            raise ManagerError(
                f"verify_within and interval of fingerprints must be positive, got {verify_within} and {interval}"
            )
        self.verify_within: timedelta = verify_within
        self.interval: timedelta = interval
        self.code: str = code

    def connect(self, client: Client, namespace: str) -> None:
        """Take the client of the manager and its own namespace, before any other call. Does nothing by default."""

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that the store needs."""
        return ()

    @abstractmethod
    async def load(self) -> bytes | None:
        """Return what was saved last; None if there is nothing. An error is logged, and all requests run."""

    @abstractmethod
    async def save(self, data: bytes) -> None:
        """Replace what was saved. An error is logged, and the next write tries again."""


class MemoryFingerprints(Fingerprints):
    """Keeps fingerprints in memory, for tests: several managers, one after the other, share the object."""

    #: What was saved last.
    data: bytes | None = None

    async def load(self) -> bytes | None:
        """Return what was saved last."""
        return self.data

    async def save(self, data: bytes) -> None:
        """Replace what was saved."""
        self.data = data
