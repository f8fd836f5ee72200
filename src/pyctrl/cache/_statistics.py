"""Numbers about informers. Imported on first use, so that a start does not wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pyctrl.api import GroupVersionKind

__all__ = ["InformerStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InformerStatistics:
    """Numbers about an informer.

    Attributes:
        kind: the kind.
        objects: the number of objects in the store.
        size_bytes: the bytes of these objects: JSON, or compressed JSON with ``KindOptions(compress=True)``.
        is_synced: whether every first list is complete.
        age: the time since the server last sent something, for the coverage where it is longest; None: never.
        relists: complete lists after the first.
        stages: the state of each reflector.
        error: why the informer is not up to date; None when it is.
        is_served: whether the cluster serves the kind, as far as is known.
        is_failing: whether the informer should be up to date and is not. An optional kind need not be served.
        own_writes: objects that this process has written and the informer has not seen yet.
        own_writes_lag: the time since the oldest of these writes.
        own_writes_given_up: own writes that were dropped because there were too many.
        is_stalled: whether the watch brings nothing although the server has newer versions.
        live_reads: the reads of the kind that were requests, because the cache does not cover what they ask for.
        unreadable: the number of objects that cannot be decoded; see `Informer.unreadable`.
    """

    kind: GroupVersionKind
    objects: int
    size_bytes: int
    is_synced: bool
    age: timedelta | None
    relists: int
    stages: tuple[str, ...]
    error: str | None
    is_served: bool
    is_failing: bool
    own_writes: int
    own_writes_lag: timedelta
    own_writes_given_up: int
    unreadable: int = 0
    is_stalled: bool = False
    live_reads: int = 0
