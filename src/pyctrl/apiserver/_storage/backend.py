"""Backend of a storage: what keeps its contents over restarts, in the place of etcd's backend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

__all__ = ["Backend", "BackendState", "Revision"]


class Revision(NamedTuple):
    """One stored change: the state of an object under a version, or its removal."""

    version: int
    group: str
    resource: str
    key: str
    """`namespace/name`, or the name of a cluster-scoped object."""
    data: bytes | None
    """The object as JSON; None when it was removed."""


class BackendState(NamedTuple):
    """What a backend has when a storage loads it."""

    version: int
    """The newest version that was stored or compacted; 0 for an empty backend."""
    compacted: Mapping[tuple[str, str], int]
    """The version up to which history was dropped, by group and resource."""
    revisions: Iterable[Revision]
    """The kept revisions, oldest first. An object that was not changed since the compaction has one."""


class Backend(Protocol):
    """Keeps revisions over restarts. A storage is its only user.

    When a method returns, its change is safe against the end of the process. When it raises, nothing was changed. All
    methods are synchronous: they run between two steps of the event loop.

    Raises:
        StorageError: From every method: the backend cannot be read or written.
    """

    def load(self) -> BackendState:
        """Return everything that is stored."""
        ...

    def write(self, revision: Revision) -> None:
        """Store a revision. Its version is higher than every one before it."""
        ...

    def compact(self, group: str, resource: str, version: int, dropped: Iterable[int]) -> None:
        """Drop the revisions of the versions `dropped`: the history of a resource up to `version` is not needed."""
        ...

    def restore(self, revisions: Iterable[Revision], compacted: Mapping[tuple[str, str], int]) -> None:
        """Replace everything except secrets by these revisions and compactions."""
        ...

    def find_secret(self, name: str) -> bytes | None:
        """Return a secret of the server, such as a signing key; None if it is not stored."""
        ...

    def put_secret(self, name: str, value: bytes) -> None:
        """Store a secret of the server."""
        ...
